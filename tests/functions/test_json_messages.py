"""The function protocol in JSON, for functions that read stdin and write stdout."""

from __future__ import annotations

import json

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.failures import FunctionReplyDamaged
from crossply.functions.json_messages import read_answer, read_response, write_request

REQUEST = Request(
    State(Resource({"apiVersion": "a/v1", "kind": "X", "spec": {"n": 3.0, "f": 1.5}}, {"key": b"\xff1"})),
    State(None, {"a": Resource({"kind": "K"})}),
    input={"x": 1.0},
    context={"k": "v"},
)


def test_a_request_is_protobufs_own_json_with_whole_numbers():
    written = json.loads(write_request(REQUEST))
    assert written.pop("meta")["tag"] == REQUEST.tag
    assert written == {
        "observed": {
            "composite": {
                "resource": {"apiVersion": "a/v1", "kind": "X", "spec": {"n": 3, "f": 1.5}},
                "connectionDetails": {"key": "/zE="},
            }
        },
        "desired": {"resources": {"a": {"resource": {"kind": "K"}}}},
        "input": {"x": 1},
        "context": {"k": "v"},
    }


def test_a_request_written_back_is_an_answer_that_passes_everything_on():
    response = read_response(write_request(REQUEST))
    assert (response.desired, response.context, response.tag) == (REQUEST.desired, {"k": "v"}, REQUEST.tag)


def test_a_request_written_back_with_other_observed_state_is_answered_with_a_warning():
    sent = write_request(REQUEST)
    assert read_answer(sent, sent, "f").results == ()
    returned = json.loads(sent)
    returned["observed"]["composite"]["resource"]["spec"]["n"] = 4
    response = read_answer(json.dumps(returned).encode(), sent, "f")
    [result] = response.results
    assert result.message == (
        'function "f" changed the observed state, which is ignored: composite.resource.spec.n'
    )
    assert response.desired == REQUEST.desired


def test_every_field_of_an_answer_is_read():
    written = {
        "meta": {"tag": "t", "ttl": "30s"},
        "desired": {"composite": {"ready": "READY_TRUE"}},
        "results": [
            {"severity": "SEVERITY_WARNING", "message": "m", "reason": "r", "target": "TARGET_COMPOSITE"}
        ],
        "conditions": [{"type": "T", "status": "STATUS_CONDITION_TRUE", "reason": "R"}],
        "requirements": {"resources": {"c": {"apiVersion": "v1", "kind": "ConfigMap", "matchName": "n"}}},
    }
    response = read_response(json.dumps(written).encode())
    assert response.ttl == 30_000_000_000
    assert response.results[0].message == "m"
    assert response.conditions[0].type == "T"
    assert response.requirements.resources["c"].match_name == "n"


@pytest.mark.parametrize(
    "written",
    [b"", b" \n", b"[", b"[1]", b"\xff", b'{"desired":3}', b"[" * 100_000, b'{"context":' + b'{"a":' * 5000],
    ids=["nothing", "blank", "no end", "no object", "no text", "no state", "deep lists", "deep objects"],
)
def test_an_invalid_response_is_refused(written):
    with pytest.raises(FunctionReplyDamaged):
        read_response(written)
