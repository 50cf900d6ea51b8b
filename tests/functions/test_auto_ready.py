"""auto-ready: which resources it calls ready, and which it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    READY_UNSPECIFIED,
    SECOND,
    SEVERITY_FATAL,
    Request,
    Resource,
    Response,
    State,
)
from crossply.functions.builtin.auto_ready import function as auto_ready
from crossply.functions.builtin.auto_ready.health import CHECKS

BUCKET = {"apiVersion": "s3.example.org/v1", "kind": "Bucket"}
READY = {"type": "Ready", "status": "True"}


def readiness(observed: dict[str, Any]) -> int:
    """The readiness that auto-ready gives to a resource that no step has decided on."""
    desired = {"one": Resource({"apiVersion": observed.get("apiVersion"), "kind": observed.get("kind")})}
    response = auto_ready.run(Request(State(Resource({}), {"one": Resource(observed)}), State(None, desired)))
    assert response.desired is not None
    return response.desired.resources["one"].ready


def conditions(*entries: Any) -> dict[str, Any]:
    return {**BUCKET, "status": {"conditions": list(entries)}}


@pytest.mark.parametrize(
    ("observed", "expected", "reason"),
    [
        (conditions(READY), READY_TRUE, "the condition says so"),
        (
            conditions({**READY, "status": "False"}),
            READY_UNSPECIFIED,
            "a resource that is not ready is left undecided",
        ),
        (conditions(), READY_UNSPECIFIED, "no condition, no verdict"),
        ({**BUCKET}, READY_UNSPECIFIED, "no status at all"),
        ({**BUCKET, "status": "fine"}, READY_UNSPECIFIED, "a status that is not an object"),
        (
            conditions({**READY, "status": "False"}, READY),
            READY_UNSPECIFIED,
            "the first Ready condition counts",
        ),
        (
            conditions({"type": "Synced", "status": "True"}, READY),
            READY_TRUE,
            "the order of types does not matter",
        ),
        (conditions({"type": 5.0}, READY), READY_UNSPECIFIED, "one malformed condition hides the others"),
        (conditions("Ready", READY), READY_UNSPECIFIED, "a condition that is not an object hides the others"),
        (conditions(None, READY), READY_TRUE, "a null condition reads as an empty one"),
        (
            conditions({**READY, "lastTransitionTime": "2024-01-01"}),
            READY_UNSPECIFIED,
            "a date is not a timestamp, so the condition is malformed",
        ),
        (
            conditions({**READY, "lastTransitionTime": "2024-01-01T00:00:00Z"}),
            READY_TRUE,
            "a timestamp is fine",
        ),
        (conditions({**READY, "observedGeneration": 2.0}), READY_TRUE, "integers are doubles on the wire"),
        (conditions({**READY, "observedGeneration": 2.5}), READY_UNSPECIFIED, "a generation is whole"),
        (conditions({**READY, "observedGeneration": "2"}), READY_UNSPECIFIED, "a generation is a number"),
    ],
)
def test_a_resource_without_a_rule_is_ready_by_its_condition(
    observed: dict[str, Any], expected: int, reason: str
) -> None:
    assert readiness(observed) == expected, reason


def test_only_undecided_resources_that_exist_are_marked() -> None:
    ready = Resource(conditions(READY))
    desired = {
        "ready": Resource(BUCKET, ready=READY_TRUE),
        "not-ready": Resource(BUCKET, ready=READY_FALSE),
        "missing": Resource(BUCKET),
        "open": Resource(BUCKET, {"key": b"value"}),
    }
    observed = {"ready": Resource(BUCKET), "not-ready": ready, "open": ready, "not-desired": ready}
    composite = Resource({"status": {"phase": "x"}})
    response = auto_ready.run(Request(State(Resource({}), observed), State(composite, desired)))
    assert response.desired == State(
        composite, {**desired, "open": Resource(BUCKET, {"key": b"value"}, READY_TRUE)}
    )
    assert desired["open"].ready == READY_UNSPECIFIED, "the request stays as it was"
    assert response.results == ()


def test_the_answer_passes_on_the_context_and_copies_the_tag() -> None:
    request = Request(State(Resource({})), context={"a": 1.0}, tag="t")
    assert auto_ready.run(request) == Response(State(), context={"a": 1.0}, ttl=60 * SECOND, tag=request)


INPUT = {"apiVersion": "autoready.fn.crossplane.io/v1beta1", "kind": "Input"}


@pytest.mark.parametrize(
    ("ttl", "nanoseconds", "reason"),
    [("", 60 * SECOND, "the default"), ("5m", 300 * SECOND, "minutes"), ("0s", 0, "never reuse")],
)
def test_the_input_sets_the_ttl_of_the_response(ttl: str, nanoseconds: int, reason: str) -> None:
    response = auto_ready.run(Request(State(Resource({})), input={**INPUT, "ttl": ttl}))
    assert response.ttl == nanoseconds, reason
    assert not response.results


@pytest.mark.parametrize(
    "checks",
    [
        {"celHealthCheckCustomization": {"_v1_ConfigMap": "false"}},
        {"celHealthCheckCustomization": None},
        {"celHealthCheckCustomizationFrom": "checks"},
    ],
)
def test_health_checks_in_cel_are_accepted_and_have_no_effect(checks: dict[str, Any]) -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap"}
    response = auto_ready.run(
        Request(
            State(Resource({}), {"one": Resource(config_map)}),
            State(None, {"one": Resource(config_map)}),
            input={**INPUT, **checks},
            context={"checks": {"_v1_ConfigMap": "false"}},
        )
    )
    assert response.results == ()
    assert response.desired is not None
    assert response.desired.resources["one"].ready == READY_TRUE


UNREADABLE = (
    "cannot get Function input from *v1.RunFunctionRequest: "
    "cannot get function input *v1beta1.Input from *v1.RunFunctionRequest: "
    "cannot unmarshal JSON from *structpb.Struct into *v1beta1.Input: json: cannot unmarshal "
)


@pytest.mark.parametrize(
    ("function_input", "sentence"),
    [
        ({"ttl": "soon"}, 'cannot set ttl: time: invalid duration "soon"'),
        (
            {"celHealthCheckCustomization": {"_v1_Pod": 1.0}},
            UNREADABLE + "JSON number into Go value of type string",
        ),
        ({"ttl": 5.0}, UNREADABLE + "JSON number into Go value of type string"),
        ({"tll": "5m"}, UNREADABLE + 'Go value of type v1beta1.Input: unknown name "tll"'),
    ],
)
def test_an_input_that_cannot_be_read_is_fatal(function_input: dict[str, Any], sentence: str) -> None:
    response = auto_ready.run(Request(State(Resource({})), input={**INPUT, **function_input}))
    assert [(result.severity, result.message) for result in response.results] == [(SEVERITY_FATAL, sentence)]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.sampled_from(["True", "Ready", "Running", "2024-01-01T00:00:00Z", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["conditions", "type", "status", "spec", "replicas", "phase", "ttl", "observedGeneration"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(sorted(CHECKS)) | st.tuples(JSON, JSON)


@given(KINDS, JSON, JSON, JSON)
def test_no_object_and_no_input_makes_it_raise(
    kind: Any, spec: Any, status: Any, function_input: Any
) -> None:
    observed = {"apiVersion": kind[0], "kind": kind[1], "spec": spec, "status": status, "metadata": spec}
    request = Request(
        State(Resource({}), {"one": Resource(observed)}),
        State(None, {"one": Resource({})}),
        input=function_input if isinstance(function_input, dict) else None,
        context={"x": function_input},
    )
    assert isinstance(auto_ready.run(request), Response)
