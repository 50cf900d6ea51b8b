"""Requests to functions of an author, which are called in this process and as bytes."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import READY_TRUE, Request, Resource, State
from crossply.compose.wire_codec import decode_response, encode_request
from crossply.sdk import function
from crossply.values.protobuf_struct import to_wire

XR = {"apiVersion": "example.org/v1", "kind": "XR", "metadata": {"name": "x"}, "spec": {"count": 3, "f": 1.5}}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Available"}]}}
EARLIER = State(
    Resource({"status": {"a": 1.0}}, {"user": b"u"}),
    {
        "old": Resource({"kind": "Old", "spec": {"n": 5.0}}, {"k": b"\xff"}, READY_TRUE),
        "other": Resource({"kind": "Other"}),
    },
)


def new_request(**named: Any) -> Any:
    """A request with two resources that a step before wants."""
    return Request(State(Resource(to_wire(XR)), named.pop("observed", {})), EARLIER, **named)


def both_ways(body: Any, request: Any = None) -> Any:
    """Call a function in this process and as bytes; the answers must be the same, and that is it."""
    request = request or new_request()
    runnable = body if hasattr(body, "run") else function(body)
    here, there = runnable.run(request), decode_response(runnable.answer(encode_request(request)))
    assert here._replace(tag=request.tag) == there
    return there


def failing(req: Any, rsp: Any) -> Any:
    rsp.desired["half"] = {"kind": "Half"}
    return req.xr["spec"]["nowhere"]
