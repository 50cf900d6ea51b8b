"""Cases of a built-in function whose answers were recorded from the published program.

A function's test folder has `cases.yaml` (requests, each with a name) and `recorded.json` (their answers,
written by `python -m tests.functions.record`). Where our answer differs on purpose, the case has a
reason in `difference`, and our answer is recorded beside the original's.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any, NamedTuple

import yaml
from google.protobuf import json_format

from crossply.compose.function_messages import Function
from crossply.compose.wire_codec import decode_request, encode_response
from crossply.functions.proto.v1 import run_function_pb2 as messages
from tests.support.paths import TESTS

_FOLDER = TESTS / "functions"
NO_ANSWER = {"crash": "the program ended without an answer"}


class Case(NamedTuple):
    """A request, and why our answer differs from the original's, if it does."""

    name: str
    request: dict[str, Any]
    difference: str


def folder(function: str) -> pathlib.Path:
    return _FOLDER / function.replace("-", "_")


def load_cases(function: str) -> list[Case]:
    """The cases of a function; each has the fields of `request` at the top unless it sets them."""
    document = yaml.safe_load((folder(function) / "cases.yaml").read_text())
    shared = document.get("request", {})
    return [
        Case(case["name"], {**shared, **case["request"]}, case.get("difference", ""))
        for case in document["cases"]
    ]


def load_recorded(function: str) -> dict[str, dict[str, Any]]:
    recorded: dict[str, dict[str, Any]] = json.loads((folder(function) / "recorded.json").read_text())
    return recorded


def encoded(case: Case) -> bytes:
    """The request of a case on the wire."""
    message = json_format.ParseDict({"meta": {"tag": "t"}, **case.request}, messages.RunFunctionRequest())
    return message.SerializeToString()


def as_json(response: bytes) -> dict[str, Any]:
    """A response from the wire, as protobuf writes it in JSON."""
    message = messages.RunFunctionResponse.FromString(response)
    composites = [message.desired.composite] if message.desired.HasField("composite") else []
    for resource in (*composites, *message.desired.resources.values()):
        if resource.HasField("resource") and not resource.resource.fields:
            resource.ClearField("resource")  # an empty object equals none
    written: dict[str, Any] = json_format.MessageToDict(message)
    return written


def our_answer(case: Case, function: Function) -> dict[str, Any]:
    return as_json(encode_response(function(decode_request(encoded(case)))))


def expected_answer(case: Case, recorded: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What we answer: as the original does, or as it was recorded beside the original's answer."""
    entry = recorded[case.name]
    assert ("ours" in entry) == bool(case.difference), "a difference has a reason, and a reason a difference"
    answer: dict[str, Any] = entry["ours" if case.difference else "original"]
    return answer
