"""Scripts in Starlark that are a function `main` of the request, and return the response."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import SECOND, Request, Resource, Response, State
from crossply.functions.builtin.starlark.function import run
from tests.support.functions.starlark import BEFORE, XR

MAIN = """
def main(req):
    rsp = {"desired": req["desired"], "results": [{"severity": "SEVERITY_NORMAL", "message": "hi"}]}
    xr = req["observed"]["composite"]["resource"]
    for i in range(int(xr["spec"]["count"])):
        name = "robot-{}".format(i)
        rsp["desired"]["resources"][name] = {"resource": {"kind": "Robot", "spec": dict(n = i)}}
    return rsp
"""


def called(script: str, **more: Any) -> Response:
    return run(Request(State(Resource(XR)), BEFORE, input={"script": script}, tag="t", **more))


def test_a_script_may_be_a_function_of_the_request() -> None:
    answer = called(MAIN)
    assert answer.desired is not None
    assert sorted(answer.desired.resources) == ["earlier", "robot-0", "robot-1", "robot-2"]
    assert answer.desired.resources["robot-2"].object == {"kind": "Robot", "spec": {"n": 2.0}}
    assert answer.desired.resources["earlier"] == BEFORE.resources["earlier"]
    assert [result.message for result in answer.results] == ["hi"]


def test_fields_that_main_does_not_mention_stay_unchanged() -> None:
    answer = called("def main(req):\n    return {}\n", context={"a": 1.0})
    assert answer.desired == BEFORE
    assert answer.context == {"a": 1.0}
    assert answer.ttl == 60 * SECOND


def test_secrets_reach_main_in_base64() -> None:
    script = """
def main(req):
    data = req["credentials"]["aws"]["credential_data"]["data"]
    return {"context": {"key": encoding.b64dec(data["key"])}}
"""
    assert called(script, credentials={"aws": {"key": b"secret"}}).context == {"key": "secret"}
