"""function-sequencer: what is delayed, until when, and what keeps the order of deletion."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    SECOND,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    Request,
    Resource,
    Response,
    State,
)
from crossply.functions.builtin.sequencer.function import run
from crossply.functions.builtin.usages import generated_name

MR = {"apiVersion": "example.org/v1", "kind": "MR", "metadata": {"name": "cool"}}


def sequenced(
    rules: list[Any], desired: dict[str, bool], observed: dict[str, Any] | None = None, **more: Any
) -> Response:
    """The answer for desired resources that are ready or not, and observed ones."""
    resources = {
        name: Resource(MR, {}, READY_TRUE if ready else READY_FALSE) for name, ready in desired.items()
    }
    existing = {name: Resource(obj) for name, obj in (observed or {}).items()}
    xr = Resource({"spec": {"wanted": True, "unwanted": False}})
    step_input = {"rules": [rule if isinstance(rule, dict) else {"sequence": rule} for rule in rules], **more}
    return run(Request(State(xr, existing), State(xr, resources), input=step_input, tag="t"))


def names(answer: Response) -> list[str]:
    assert answer.desired is not None
    return sorted(answer.desired.resources)


@pytest.mark.parametrize(
    ("sequence", "desired", "observed", "expected", "messages", "reason"),
    [
        (["a", "b"], {"a": True, "b": False}, [], ["a", "b"], [], "the first is ready"),
        (
            ["a", "b"],
            {"a": False, "b": False},
            [],
            ["a"],
            ['"b" because "a" is not fully ready (0 of 1)'],
            "the first is not ready",
        ),
        (["a", "b"], {"b": True}, [], [], ['"b" because "a" does not exist yet'], "the first is not there"),
        (["a", "b"], {"a": False, "b": False}, ["b"], ["a", "b"], [], "what exists is not taken back"),
        (
            ["a", "b", "c"],
            {"a": False, "b": True, "c": True},
            ["b"],
            ["a", "b"],
            ['"c" because "a" is not fully ready (0 of 1)'],
            "all before must be ready, not only the neighbour",
        ),
        (
            ["a-.*", "b"],
            {"a-0": True, "a-1": False, "b": False},
            [],
            ["a-0", "a-1"],
            ['"b" because "a-.*" is not fully ready (1 of 2)'],
            "a pattern stands for all that match",
        ),
        (
            ["a", "b-.*"],
            {"a": False, "b-0": True, "b-1": True, "xb-1": True},
            ["b-1"],
            ["a", "b-1", "xb-1"],
            ['"b-.*" because "a" is not fully ready (0 of 1)'],
            "a pattern matches whole names, and leaves alone what exists",
        ),
        (["^a", "b"], {"ab": True, "b": True}, [], ["ab", "b"], [], "a pattern may say where it begins"),
        (["a"], {"a": False}, [], ["a"], [], "one alone waits for nothing"),
        ([], {"a": False}, [], ["a"], [], "and nothing delays nothing"),
    ],
)
def test_resources_wait_for_their_turn(
    sequence: list[str],
    desired: dict[str, bool],
    observed: list[str],
    expected: list[str],
    messages: list[str],
    reason: str,
) -> None:
    answer = sequenced([sequence], desired, dict.fromkeys(observed, MR))
    assert names(answer) == expected, reason
    expected_messages = [f"Delaying creation of resource(s) matching {message}" for message in messages]
    assert [result.message for result in answer.results] == expected_messages
    assert all(result.severity == SEVERITY_NORMAL for result in answer.results)


def test_the_composite_is_not_ready_while_something_waits_if_the_step_enables_it() -> None:
    for reset, ready in ((True, READY_FALSE), (False, 0)):
        answer = sequenced([["a", "b"]], {"b": True}, resetCompositeReadiness=reset)
        assert answer.desired is not None
        assert answer.desired.composite is not None
        assert answer.desired.composite.ready == ready


def test_a_rule_whose_condition_is_false_is_skipped() -> None:
    rule = {"sequence": ["a", "b"], "condition": "!observed.composite.resource.spec.wanted"}
    answer = sequenced([rule], {"b": True})
    assert names(answer) == ["b"]
    assert (
        answer.results[0].message
        == f'Skipping sequence [a b]: condition "{rule["condition"]}" evaluated to false'
    )
    true_condition = sequenced(
        [{**rule, "condition": "observed.composite.resource.spec.wanted == true"}], {"b": True}
    )
    assert names(true_condition) == []


@pytest.mark.parametrize(("field", "expected"), [("wanted", []), ("unwanted", ["b"])])
def test_a_condition_may_be_a_plain_field_of_the_composite_resource(field: str, expected: list[str]) -> None:
    rule = {"sequence": ["a", "b"], "condition": f"observed.composite.resource.spec.{field}"}
    answer = sequenced([rule], {"b": True})
    assert all(result.severity == SEVERITY_NORMAL for result in answer.results)
    assert names(answer) == expected


def usages(answer: Response) -> dict[str, Any]:
    assert answer.desired is not None
    return {
        name: resource.object
        for name, resource in answer.desired.resources.items()
        if name.endswith("-usage")
    }


def test_deletion_is_sequenced_by_usages_of_existing_resources() -> None:
    first = {**MR, "metadata": {"name": "one", "namespace": "shop"}}
    second = {**MR, "metadata": {"name": "two"}}
    more: dict[str, Any] = {"enableDeletionSequencing": True, "replayDeletion": True}
    desired = {"a": True, "b": True, "c": True}
    answer = sequenced([["a", "b", "c"]], desired, {"a": first, "b": second}, **more)
    (usage,) = usages(answer).items()
    assert usage[0] == "b-a-usage"
    assert usage[1] == {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "Usage",
        "metadata": {"name": generated_name("mr-two-mr-one", "dependency"), "namespace": "shop"},
        "spec": {
            "of": {"apiVersion": "example.org/v1", "kind": "MR", "resourceRef": {"name": "one"}},
            "by": {"apiVersion": "example.org/v1", "kind": "MR", "resourceRef": {"name": "two"}},
            "reason": "dependency",
            "replayDeletion": True,
        },
    }
    assert answer.desired is not None
    assert answer.desired.resources["b-a-usage"].ready == READY_TRUE


@pytest.mark.parametrize(
    ("more", "rule", "expected", "reason"),
    [
        ({}, {}, {}, "only where the step says so"),
        ({"enableDeletionSequencing": True}, {}, {"ClusterUsage"}, "of what has no namespace"),
        ({"enableDeletionSequencing": True, "usageVersion": "v1"}, {}, {"Usage"}, "the older kind"),
        ({"enableDeletionSequencing": True}, {"deleteOnly": True}, {"ClusterUsage"}, "also alone"),
        ({"enableDeletionSequencing": True}, {"createOnly": True}, {}, "a rule may leave deletion alone"),
        ({"enableDeletionSequencing": True}, {"condition": "false"}, {"ClusterUsage"}, "skipped or not"),
    ],
)
def test_which_usages_are_written(
    more: dict[str, Any], rule: dict[str, Any], expected: set[str], reason: str
) -> None:
    rules = [{"sequence": ["a", "b"], **rule}]
    answer = sequenced(rules, {"a": True, "b": True}, {"a": MR, "b": MR}, **more)
    assert {usage["kind"] for usage in usages(answer).values()} == set(expected), reason


def test_a_rule_for_deletion_alone_delays_nothing() -> None:
    assert names(sequenced([{"sequence": ["a", "b"], "deleteOnly": True}], {"b": True})) == ["b"]


def test_names_of_usages_fit_kubernetes() -> None:
    assert generated_name("a-b", "dependency") == "a-b-d44362-dependency"
    assert generated_name("x" * 100, "dependency") == f"{'x' * 45}-09ecb6-dependency"
    assert len(generated_name("x" * 100, "dependency")) == 63


@pytest.mark.parametrize(
    ("rules", "more", "problem", "reason"),
    [
        ([["(", "b"]], {}, "cannot compile regex (: error parsing regexp", "a broken pattern"),
        ([["a", "("]], {}, "cannot compile regex (", "of what would wait"),
        ([["a{1000}{1000}", "b"]], {}, "cannot compile regex", "a pattern that explodes"),
        ([["a", "b"]], {"cacheTTL": "soon"}, "cannot set cacheTTL", "no duration"),
        ([["a", "b"]], {"sequences": []}, 'unknown name "sequences"', "a misspelt field"),
        (
            [{"sequence": ["a", "b"], "condition": "1 +"}],
            {},
            "cannot evaluate condition",
            "a broken condition",
        ),
        (
            [{"sequence": ["a"], "condition": "1"}],
            {},
            'cannot evaluate condition "1" for sequence [a]: CEL condition must return bool, got int',
            "a number",
        ),
        (
            [{"sequence": ["a"], "condition": "has(observed.compsite)"}],
            {},
            "cannot type-check CEL condition: ERROR: <input>:1:4: undefined field 'compsite'\n",
            "a misspelt field",
        ),
        (
            [{"sequence": ["a"], "condition": "observed.composite.resource"}],
            {},
            "CEL condition must return bool, got ",
            "an object",
        ),
        (
            [{"sequence": ["a"], "condition": "observed.composite.resource.spec"}],
            {},
            "CEL condition result is not bool",
            "a field that turns out to be an object",
        ),
        (
            [{"sequence": ["a"], "condition": "observed.composite.resource.spec.nothing"}],
            {},
            "cannot evaluate CEL condition: no such key: nothing",
            "a field that is not set",
        ),
        ([{"createOnly": True, "deleteOnly": True}], {}, "exclude each other", "both"),
    ],
)
def test_errors_in_the_input_are_fatal(
    rules: list[Any], more: dict[str, Any], problem: str, reason: str
) -> None:
    answer = sequenced(rules, {"a": True, "b": True}, **more)
    assert answer.results[-1].severity == SEVERITY_FATAL, reason
    assert problem in answer.results[-1].message, reason


def test_the_ttl_of_the_response_is_that_of_the_step() -> None:
    assert sequenced([], {}, cacheTTL="10s").ttl == 10 * SECOND
    assert sequenced([], {}).ttl == 60 * SECOND
