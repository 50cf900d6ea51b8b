"""How much a few patches may make of a large XR."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, Response, State
from crossply.control.calls.inline_runner import EventLoopRunner
from crossply.control.calls.runner_protocol import FunctionCall
from crossply.functions import builtin
from crossply.functions.binding import bind_builtin
from crossply.functions.in_process import InProcess
from crossply.functions.reply_limits import TooMuchAtOnce
from crossply.values.protobuf_struct import to_wire
from tests.support.memory_limit import run_within

Object = dict[str, Any]
BOTH = pytest.mark.parametrize("name", ["patch-and-transform", builtin.NATIVE])


def _request(data: Any, patches: list[Object], resources: int = 1, base: Object | None = None) -> Request:
    xr = {"apiVersion": "example.org/v1", "kind": "XThing", "metadata": {"name": "x"}, "spec": {"data": data}}
    template = {"base": base or {"apiVersion": "v1", "kind": "ConfigMap"}, "patches": patches}
    function_input = {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": [{"name": f"r{index}", **template} for index in range(resources)],
    }
    return Request(State(Resource(to_wire(xr))), input=to_wire(function_input), tag="t")


def _copies(count: int) -> list[Object]:
    return [
        {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.data", "toFieldPath": f"data.f{index}"}
        for index in range(count)
    ]


def _fatal(response: Response) -> str:
    assert response.results, "the call was answered"
    assert response.results[-1].severity == SEVERITY_FATAL
    return response.results[-1].message


def _run(name: str, request: Request, **limits: int) -> Response:
    return bind_builtin(name, "f", **limits)(request, 30.0)


@BOTH
@pytest.mark.parametrize("data", ["x" * 600_000, [{"name": f"item-{index}"} for index in range(20_000)]])
def test_many_copies_of_a_large_field_end_in_a_fatal_result(name: str, data: Any) -> None:
    message = _fatal(_run(name, _request(data, _copies(2), resources=200)))
    assert "desired state is larger than 4194304 bytes" in message
    assert "--max-function-reply-size" in message


@BOTH
def test_a_single_resource_that_no_api_server_takes_ends_in_a_fatal_result(name: str) -> None:
    message = _fatal(_run(name, _request("x" * 600_000, _copies(6))))
    assert 'composed resource "r0" is larger than 3145728 bytes' in message


@BOTH
def test_the_limit_is_the_one_that_is_set(name: str) -> None:
    request = _request("x" * 600_000, _copies(1), resources=10)
    assert "larger than 4194304 bytes" in _fatal(_run(name, request))
    assert not _run(name, request, max_reply=8 << 20).results


def test_copies_that_replace_one_another_are_not_added_up() -> None:
    same = [{"fromFieldPath": "spec.data", "toFieldPath": "data.same"}] * 100
    response = _run("patch-and-transform", _request("x" * 600_000, same))
    assert not response.results


def test_a_wildcard_multiplies_the_counted_size() -> None:
    base = {"apiVersion": "v1", "kind": "List", "items": [{"copy": ""} for _ in range(1000)]}
    patches = [{"fromFieldPath": "spec.data", "toFieldPath": "items[*].copy"}]
    message = _fatal(_run("patch-and-transform", _request(["x" * 600_000], patches, base=base)))
    assert "larger than 4194304 bytes" in message


def test_copies_of_a_large_field_stay_within_a_few_megabytes_of_memory() -> None:
    program = """
        import tracemalloc
        from tests.functions.patch_and_transform.test_pt_limits import _copies, _request, _run

        data = [{"name": f"item-{index}"} for index in range(20_000)]
        request = _request(data, _copies(100), resources=4)
        tracemalloc.start()
        _run("patch-and-transform", request)
        print(tracemalloc.get_traced_memory()[1] >> 20)
    """
    assert int(run_within(2 << 30, program)) < 200


def test_a_call_that_runs_out_of_time_ends_in_a_fatal_result() -> None:
    data = [{"name": f"item-{index}"} for index in range(1_000)]
    to_json = [{"type": "string", "string": {"type": "Convert", "convert": "ToJson"}}]
    digest = [{"type": "string", "string": {"type": "Convert", "convert": "ToSha256"}}]
    patches = [{**patch, "transforms": to_json + digest} for patch in _copies(2)]
    function = bind_builtin("patch-and-transform", "f")
    message = _fatal(function(_request(data, patches), 1e-9))
    assert "take longer than the timeout of the call" in message


def _transformed(transforms: list[Object]) -> list[Object]:
    return [{**_copies(1)[0], "transforms": transforms}]


_TO_JSON: Object = {"type": "string", "string": {"type": "Convert", "convert": "ToJson"}}
_NO_MATCH: Object = {"type": "regexp", "regexp": "^never$"}
_HEAVY = {
    "a chain": ("x" * 50_000, [_TO_JSON] * 20),
    "a long chain of short texts": ("x" * 5_000, [_TO_JSON] * 100),
    "many patterns": ("x" * 50_000, [{"type": "match", "match": {"patterns": [_NO_MATCH] * 50}}]),
    "a large input": ("x", [{"type": "map", "map": {f"key-{number}": "v" for number in range(9_000)}}]),
}


@pytest.mark.parametrize(("data", "transforms"), _HEAVY.values(), ids=list(_HEAVY))
def test_heavy_transforms_leave_the_event_loop_at_once(data: str, transforms: list[Object]) -> None:
    function = bind_builtin("patch-and-transform", "f")
    assert isinstance(function, InProcess)
    with pytest.raises(TooMuchAtOnce):
        function.call_in_event_loop(_request(data, _transformed(transforms)))


@pytest.mark.parametrize("name", ["a chain", "many patterns"])
def test_every_transform_checks_the_deadline(name: str) -> None:
    data, transforms = _HEAVY[name]
    function = bind_builtin("patch-and-transform", "f")
    message = _fatal(function(_request(data, _transformed(transforms)), 1e-9))
    assert "take longer than the timeout of the call" in message


@BOTH
@pytest.mark.parametrize("data", ["x" * 600_000, list(range(100_000))])
def test_a_combination_of_many_large_fields_is_refused_before_it_is_built(name: str, data: Any) -> None:
    variables = [{"fromFieldPath": "spec.data"}] * 200
    combine = {"variables": variables, "strategy": "string", "string": {"fmt": "%s" * 200}}
    patch = {"type": "CombineFromComposite", "combine": combine, "toFieldPath": "data.a"}
    message = _run(name, _request(data, [patch])).results[-1].message
    assert "text is longer than 16777216 characters" in message


async def test_a_large_call_leaves_the_event_loop_for_a_thread() -> None:
    function = bind_builtin("patch-and-transform", "f")
    assert isinstance(function, InProcess)
    large, small = _request("x" * 600_000, _copies(3)), _request("x", _copies(3))
    with pytest.raises(TooMuchAtOnce):
        function.call_in_event_loop(large)
    assert not function.call_in_event_loop(small).results

    runner = EventLoopRunner(function)

    for request in (large, small):
        answer = await runner(FunctionCall("step", request, 30.0))
        assert not answer.response.results
        assert set(answer.response.desired.resources) == {"r0"}
    runner.close()


def test_the_reply_of_every_function_in_process_is_limited() -> None:
    big = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"text": "x" * 600_000}}

    def grow(request: Request) -> Response:
        from crossply.compose.function_messages import respond

        resources = {f"r{index}": Resource(dict(big)) for index in range(10)}
        return respond(request, desired=State(None, resources))

    from crossply.functions.failures import FunctionReplyTooLarge

    with pytest.raises(FunctionReplyTooLarge, match="desired state is larger than 4194304 bytes"):
        InProcess("f", grow)(Request(State()), 1.0)
    assert len(InProcess("f", grow, 8 << 20)(Request(State()), 1.0).desired.resources) == 10


@BOTH
def test_a_path_that_is_too_deep_is_a_clear_failure(name: str) -> None:
    patch = {
        "type": "FromCompositeFieldPath",
        "fromFieldPath": "spec.data",
        "toFieldPath": "a." * 5_000 + "a",
    }
    response = _run(name, _request("x", [patch]))
    assert "toFieldPath is deeper than 300 levels" in response.results[-1].message
