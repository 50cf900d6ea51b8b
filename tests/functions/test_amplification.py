"""Built-in functions that combine each of many things with each of many others: bounded while they do it."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from json import dumps
from typing import Any

import pytest

from crossply.compose.function_messages import Request, Resource, Response, State
from crossply.functions.builtin import deletion_protection, extra_resources
from crossply.functions.builtin.cidr import function as cidr_function
from crossply.functions.builtin.cidr.gjson_array_query import PathSyntaxError
from crossply.functions.builtin.cidr.gjson_path import lookup
from crossply.functions.builtin.environment_configs import function as environment_function
from crossply.functions.builtin.kcl import function as kcl_function
from crossply.functions.builtin.sequencer import function as sequencer_function
from crossply.functions.builtin.shell import function as shell_function
from crossply.functions.builtin.status_transformer import function as status_function
from crossply.functions.builtin.tag_manager import function as tag_function
from crossply.functions.failures import FunctionReplyTooLarge
from crossply.functions.in_process import InProcess
from crossply.functions.reply_limits import MAX_REPLY, Limits, TooMuchAtOnce, reset_limits, set_limits

XR = Resource({"apiVersion": "example.org/v1", "kind": "App", "metadata": {"name": "x"}})
MANY = 2_000
MEMORY = 8 * MAX_REPLY
LOOP_SECONDS = 2.0
"""CPU seconds in an event loop: 40 times the limit, for a machine that is busy."""

Run = Callable[[Request], Response]


def tagging() -> Request:
    labels = {f"label-{number}": "" for number in range(5 * MANY)}
    desired = {
        f"r{number}": Resource({"kind": "ConfigMap", "apiVersion": "v1"}) for number in range(5 * MANY)
    }
    return request({"addLabels": [{"type": "FromValue", "labels": labels}]}, desired=desired)


def sequencing() -> Request:
    resources = {
        f"r{number}": Resource({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"r{number}"}})
        for number in range(MANY)
    }
    rules = {"enableDeletionSequencing": True, "rules": [{"sequence": [".*", ".*"]}]}
    return request(rules, desired=resources, observed=resources)


def merging(count: int = 5 * MANY, path: str = "f{0}") -> Request:
    data = {f"key-{number}": "v" for number in range(2 * MANY)}
    config = Resource({"metadata": {"name": "e"}, "data": data})
    numbers = range(count)
    source = {"type": "Reference", "ref": {"name": "e"}}
    sources = [{**source, "toFieldPath": path.format(number)} for number in numbers]
    configs = {f"environment-config-{number}": (config,) for number in numbers}
    return request({"spec": {"environmentConfigs": sources}}, required_resources=configs)


def requiring() -> Request:
    selector = {"matchLabels": [{"type": "Value", "key": "a", "value": "b"}]}
    source = {"type": "Selector", "into": "a", "kind": "C", "apiVersion": "v1", "selector": selector}
    objects = tuple(Resource({"metadata": {"name": str(number)}}) for number in range(MANY))
    return request({"spec": {"extraResources": [source] * MANY}}, required_resources={"a": objects})


def request(function_input: dict[str, Any], **more: Any) -> Request:
    observed, desired = more.pop("observed", {}), more.pop("desired", {})
    return Request(State(XR, observed), State(XR, desired), input=function_input, **more)


FUNCTIONS: dict[str, tuple[Run, Callable[[], Request]]] = {
    "tag-manager": (tag_function.run, tagging),
    "sequencer": (sequencer_function.run, sequencing),
    "environment-configs": (environment_function.run, merging),
    "extra-resources": (extra_resources.run, requiring),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_would_be_far_too_large_is_refused_before_it_is_made(name: str) -> None:
    run, make = FUNCTIONS[name]
    sent = make()
    tracemalloc.start()
    try:
        with pytest.raises(FunctionReplyTooLarge, match=r"larger than|take longer than the timeout"):
            InProcess(name, run)(sent, 20.0)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "sequencer"])
def test_an_event_loop_is_not_kept_from_other_work(name: str) -> None:
    run, make = FUNCTIONS[name]
    sent = make()
    start = time.process_time()
    with pytest.raises((TooMuchAtOnce, FunctionReplyTooLarge)):
        InProcess(name, run).call_in_event_loop(sent)
    assert time.process_time() - start < LOOP_SECONDS


def test_tags_are_removed_in_time_that_grows_with_their_number() -> None:
    names = [f"name-{number}" for number in range(30_000)]
    labels = {f"label-{number}": "" for number in range(30_000)}
    resource = Resource({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": labels}})
    sent = request({"removeLabels": [{"type": "FromValue", "keys": names}]}, desired={"r": resource})
    start = time.process_time()
    InProcess("tag-manager", tag_function.run)(sent, 0)
    assert time.process_time() - start < LOOP_SECONDS


def test_configs_that_replace_one_another_are_counted_as_what_is_left() -> None:
    sent = merging(count=500, path="same")
    assert not InProcess("environment-configs", environment_function.run)(sent, 0).results


PATHS = {
    "a pattern on a long text": ({"l": ["a" * 3_000_000]}, 'l.#(%"*' + "a" * 900 + 'b*")'),
    "modifiers in a row": ({"l": ["a"] * 400_000}, "l." + "|".join(["@flatten"] * 100)),
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_into_the_context_does_not_keep_an_event_loop(name: str) -> None:
    context, path = PATHS[name]
    sent = request(
        {"cidrFunc": "cidrhost", "prefixField": f"context.{path}", "hostNum": 1.0}, context=context
    )
    start = time.process_time()
    try:
        response = InProcess("cidr", cidr_function.run).call_in_event_loop(sent)
        assert response.results
    except TooMuchAtOnce:
        pass
    assert time.process_time() - start < LOOP_SECONDS


def test_a_path_that_nests_too_deep_is_an_error_of_the_path() -> None:
    nested: Any = 1
    for _ in range(900):
        nested = [nested]
    with pytest.raises(PathSyntaxError, match="nests too deep"):
        lookup({"l": nested}, "l" + ".#" * 510)


BASE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "r"}}
LABELLED = {**BASE, "metadata": {"name": "r", "labels": {deletion_protection.LABEL: "true"}}}


def patching(target: str) -> Request:
    spec = {"source": f"items = [{dumps(BASE)}]", "target": target}
    if target == "PatchResources":
        spec["resources"] = [{"name": "r", "base": BASE}]
    return request({"kind": "KCLInput", "spec": spec}, desired={"r": Resource(BASE)})


def transforming() -> Request:
    matcher = {"resources": [{"name": ".*"}], "conditions": [{"type": "Ready", "status": "True"}]}
    return request({"statusConditionHooks": [{"matchers": [matcher]}]}, observed={"r": Resource(BASE)})


def extending() -> Request:
    many_bits = Resource({**XR.object, "spec": {"bits": [8] * 70_000}})
    parameters = {"cidrFunc": "cidrsubnets", "prefix": "::/0", "newBitsField": "spec.bits"}
    return Request(State(many_bits), State(), input=parameters)


LOOPS: dict[str, tuple[Run, Callable[[], Request]]] = {
    "cidr, of a field": (cidr_function.run, extending),
    "cidr, of the input": (
        cidr_function.run,
        lambda: request({"cidrFunc": "cidrsubnets", "prefix": "::/0", "newBits": [8] * 70_000}),
    ),
    "deletion-protection": (
        deletion_protection.run,
        lambda: request({}, desired={"r": Resource(BASE)}, observed={"r": Resource(LABELLED)}),
    ),
    "status-transformer": (status_function.run, transforming),
    "shell": (
        shell_function.run,
        lambda: request({"shellCommand": "true", "shellEnvVars": [{"key": "A", "value": "a"}]}),
    ),
    **{
        f"kcl, {target}": (kcl_function.run, partial(patching, target))
        for target in ("Default", "Resources", "PatchDesired", "PatchResources", "XR")
    },
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_grow_with_the_request_end_at_the_deadline(name: str) -> None:
    run, make = LOOPS[name]
    token = set_limits(Limits(deadline=0.0, in_event_loop=True))
    try:
        with pytest.raises(TooMuchAtOnce):
            run(make())
    finally:
        reset_limits(token)


def test_variables_of_a_command_are_bounded_together() -> None:
    variables = [{"key": f"A{number}", "valueRef": "spec.text"} for number in range(100)]
    long_text = Resource({**XR.object, "spec": {"text": "a" * 100_000}})
    shell_call = Request(State(long_text), State(), input={"shellCommand": "true", "shellEnvVars": variables})
    (result,) = shell_function.run(shell_call).results
    assert "all variables are longer than 1024 KiB" in result.message


def test_many_patches_of_one_large_resource_are_applied_in_time_that_grows_with_their_number() -> None:
    patch = {**BASE, "data": {"key-0": "new"}}
    source = f"items = [{dumps(patch)} for _ in range(15000)]"
    large = {**BASE, "data": {f"key-{number}": "" for number in range(50_000)}}
    kcl_call = request(
        {"kind": "KCLInput", "spec": {"source": source, "target": "PatchDesired"}},
        desired={"r": Resource(large)},
    )
    answer = InProcess("kcl", kcl_function.run)(kcl_call, 40.0)  # each by itself would take minutes
    assert answer.desired is not None
    assert answer.desired.resources["r"].object["data"]["key-0"] == "new"
    assert large["data"]["key-0"] == ""
