"""function-dummy: the response in the input, laid over what came in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crossply.compose.function_messages import (
    READY_TRUE,
    SECOND,
    SEVERITY_FATAL,
    Condition,
    Request,
    Resource,
    ResourceSelector,
    Result,
    SchemaSelector,
    State,
)
from crossply.compose.wire_codec import encode_response
from crossply.functions.builtin.dummy import run

BEFORE = State(
    Resource({"status": {"old": 1.0}, "spec": {}}, {"kept": b"x"}, READY_TRUE),
    {"one": Resource({"kind": "One"}), "two": Resource({"kind": "Two"})},
)


def answer_with(response: Any, desired: State = BEFORE, **more: Any) -> Any:
    return run(Request(State(Resource({})), desired, input={"response": response}, tag="t", **more))


def test_fields_that_the_input_omits_stay_unchanged() -> None:
    answer = answer_with({}, context={"a": 1.0})
    assert answer.desired == BEFORE
    assert answer.context == {"a": 1.0}
    assert answer.results == ()


def test_objects_are_merged_by_member_and_resources_by_name() -> None:
    answer = answer_with(
        {
            "desired": {
                "composite": {
                    "resource": {"status": {"widgets": 200.0}},
                    "connectionDetails": {"very": "c2VjcmV0"},
                },
                "resources": {"two": {"resource": {"kind": "New"}, "ready": "READY_TRUE"}},
            },
            "context": {"b": 2.0},
        },
        context={"a": 1.0, "b": 1.0},
    )
    composite = answer.desired.composite
    assert composite.object == {"status": {"widgets": 200.0}, "spec": {}}
    assert composite.connection_details == {"kept": b"x", "very": b"secret"}
    assert composite.ready == READY_TRUE
    assert answer.desired.resources == {
        "one": Resource({"kind": "One"}),
        "two": Resource({"kind": "New"}, {}, READY_TRUE),
    }
    assert answer.context == {"a": 1.0, "b": 2.0}


def test_every_part_of_a_response_can_be_written_in_either_spelling() -> None:
    answer = answer_with(
        {
            "meta": {"tag": "mine", "ttl": "1.5s"},
            "results": [{"severity": "SEVERITY_WARNING", "message": "m", "reason": "R", "target": 2.0}],
            "conditions": [{"type": "T", "status": "STATUS_CONDITION_TRUE", "reason": "R", "message": "m"}],
            "requirements": {
                "resources": {
                    "named": {"api_version": "v1", "kind": "A", "matchName": "n", "namespace": "s"},
                    "labelled": {"apiVersion": "v1", "kind": "A", "match_labels": {"labels": {"a": "b"}}},
                },
                "extraResources": {"all": {"apiVersion": "v1", "kind": "B"}},
                "schemas": {"s": {"apiVersion": "v1", "kind": "C"}},
            },
            "output": {"o": True},
        }
    )
    assert answer.tag == "mine"
    assert answer.ttl == 3 * SECOND // 2
    assert answer.results == (Result(2, "m", "R", 2),)
    assert answer.conditions == (Condition("T", 2, "R", "m", None),)
    assert answer.requirements.resources == {
        "named": ResourceSelector("v1", "A", "n", None, "s"),
        "labelled": ResourceSelector("v1", "A", None, {"a": "b"}),
    }
    assert answer.requirements.extra_resources == {"all": ResourceSelector("v1", "B")}
    assert answer.requirements.schemas == {"s": SchemaSelector("v1", "C")}
    assert answer.output == {"o": True}


@pytest.mark.parametrize(
    ("response", "problem", "reason"),
    [
        ({"desierd": {}}, 'unknown field "desierd"', "a misspelt field"),
        ({"desired": []}, "invalid value for message", "a list for a message"),
        ({"results": {}}, "invalid value for repeated", "a message for a list"),
        ({"results": [{"severity": "LOUD"}]}, "invalid value for enum", "no such name"),
        ({"results": [{"severity": 1.5}]}, "invalid value for enum", "no such number"),
        ({"results": [{"message": 1.0}]}, "invalid value for string", "a number for a text"),
        ({"meta": {"ttl": "soon"}}, "invalid value for google.protobuf.Duration", "no duration"),
        ({"meta": {"ttl": "nans"}}, "invalid value for google.protobuf.Duration", "not a number"),
        ({"meta": {"ttl": "9e99s"}}, "invalid value for google.protobuf.Duration", "longer than ever"),
        ({"desired": {"composite": {"connectionDetails": {"a": "!"}}}}, "bytes", "no base64"),
        ({"desired": {"composite": {"resource": "x"}}}, "google.protobuf.Struct", "a text for an object"),
        (
            {"requirements": {"resources": {"a": {"apiVersion": "1", "api_version": "2"}}}},
            "duplicate field",
            "both spellings",
        ),
    ],
)
def test_an_invalid_response_is_fatal(response: Any, problem: str, reason: str) -> None:
    (result,) = answer_with(response).results
    assert result.severity == SEVERITY_FATAL, reason
    assert result.message.startswith("cannot unmarshal RunFunctionResponse")
    assert problem in result.message, reason


def test_an_unknown_field_of_the_input_is_fatal() -> None:
    answer = run(Request(State(), BEFORE, input={"respones": {}}, tag="t"))
    assert 'unknown name "respones"' in answer.results[0].message
    assert answer.desired == BEFORE


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["desired", "composite", "resources", "ready", "results", "message", "meta"]),
                inner,
            )
        ),
        max_leaves=10,
    )
)
@example({"desired": float("inf")})
def test_any_input_gives_a_response(response: Any) -> None:
    encode_response(answer_with(response))
