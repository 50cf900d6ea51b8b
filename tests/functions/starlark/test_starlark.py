"""function-starlark: answers as the published function gives them, and what only ours has."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import (
    CAPABILITIES,
    Request,
    Resource,
    ResourceSelector,
    Response,
    State,
)
from crossply.functions.builtin.starlark.function import answer, run
from crossply.functions.builtin.starlark.worker import load
from tests.support.functions.original_comparison import (
    Case,
    expected_answer,
    load_cases,
    load_recorded,
    our_answer,
)
from tests.support.functions.starlark import answered, composed

CASES = load_cases("starlark")
RECORDED = load_recorded("starlark")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_is_that_of_the_published_function(case: Case) -> None:
    assert our_answer(case, in_this_process) == expected_answer(case, RECORDED)


def in_this_process(request: Request) -> Response:
    """Run a script without a sandbox: a process for each of hundreds of scripts takes its time."""
    return answer(request, lambda _, program, question: load(program)(question))


def test_a_requirement_may_name_a_namespace_and_has_an_older_name() -> None:
    response = answered(
        'require_resource("one", "v1", "ConfigMap", match_name = "n", namespace = "s")\n'
        'require_resources("many", "v1", "Secret", {"a": "b"}, namespace = "s")\n'
    )
    assert response.requirements is not None
    assert response.requirements.resources == {
        "one": ResourceSelector("v1", "ConfigMap", "n", None, "s"),
        "many": ResourceSelector("v1", "Secret", None, {"a": "b"}, "s"),
    }


@pytest.mark.parametrize(("capabilities", "is_repeated"), [(CAPABILITIES, False), ((), True)])
def test_requirements_are_repeated_for_callers_that_know_only_the_older_field(
    capabilities: tuple[int, ...], is_repeated: bool
) -> None:
    source = 'require_extra_resource("one", "v1", "ConfigMap", match_name = "n")'
    request = Request(State(Resource({})), input={"spec": {"source": source}}, capabilities=capabilities)
    requirements = run(request).requirements
    assert requirements is not None
    assert (requirements.extra_resources == requirements.resources) is is_repeated


def test_a_script_gets_a_fresh_copy_of_every_request() -> None:
    source = 'dxr["seen"] = oxr.spec.n\nx = []\nx.append(oxr.spec.n)\nset_xr_status("x", x)\n'
    for number in (1.0, 2.0):
        response = run(Request(State(Resource({"spec": {"n": number}})), input={"spec": {"source": source}}))
        assert response.desired is not None
        assert response.desired.composite is not None
        assert response.desired.composite.object == {"seen": number, "status": {"x": [number]}}


def test_a_module_runs_once_a_call_however_often_it_is_loaded() -> None:
    modules = {
        "a.star": 'emit_event("Normal", "ran")\nx = 1\n',
        "b.star": 'load("a.star", "x")\ny = x + 1\n',
    }
    response = answered('load("a.star", "*")\nload("b.star", "y")\nset_xr_status("y", y)', modules)
    assert [result.message for result in response.results].count("ran") == 1


def test_a_module_that_loads_all_of_itself_is_refused() -> None:
    (result,) = answered('load("a.star", "x")', {"a.star": 'load("a.star", "*")\n'}).results
    assert "cycle in load graph: a.star" in result.message


@pytest.mark.parametrize(
    "expression", ["[x for x in [1]][0]", "len(str(list(range(2000))))", "sorted([3, 1])[0]"]
)
def test_computed_values_reach_the_resources(expression: str) -> None:
    assert composed(f'Resource("r", {{"v": {expression}}})')["r"].object["v"] >= 1


def test_a_script_iterates_over_keys_in_the_order_of_the_wire() -> None:
    source = "set_xr_status('keys', ' '.join(list(context)))"
    desired = run(
        Request(State(Resource({})), input={"spec": {"source": source}}, context={"b": 1.0, "a": 2.0})
    ).desired
    assert desired is not None
    assert desired.composite is not None
    assert desired.composite.object["status"] == {"keys": "a b"}
