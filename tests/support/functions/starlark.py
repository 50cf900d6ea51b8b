"""Scripts in Starlark as steps: what they are given, and what they make of it."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import READY_TRUE, SEVERITY_FATAL, Request, Resource, Response, State
from crossply.functions.builtin.starlark.function import run
from crossply.values.protobuf_struct import to_wire

XR = to_wire(
    {
        "apiVersion": "example.org/v1",
        "kind": "Store",
        "metadata": {"name": "store", "labels": {"a.b/c": "dotted"}, "annotations": {"d.e/f": "noted"}},
        "spec": {"count": 3, "region": "eu", "ratio": 0.5},
    }
)
DATABASE = to_wire(
    {
        "apiVersion": "v1",
        "kind": "DB",
        "metadata": {"name": "db-1"},
        "status": {
            "host": "h",
            "conditions": [
                {"type": "Ready", "status": "True", "reason": "Available"},
                {"type": "Synced", "status": "True"},
            ],
        },
    }
)
BEFORE = State(Resource({"status": {"old": 1.0}}), {"earlier": Resource({"kind": "Earlier"}, {}, READY_TRUE)})


def answered(source: str, modules: dict[str, str] | None = None, **more: Any) -> Response:
    input_ = {"spec": {"source": source, "modules": modules or {}, **more.pop("spec", {})}}
    observed = State(Resource(XR), {"db": Resource(DATABASE), "half": Resource({"status": {}})})
    return run(Request(observed, BEFORE, input=input_, tag="t", **more))


def composed(source: str, **more: Any) -> dict[str, Resource]:
    """The resources that a script adds."""
    answer = answered(source, **more)
    fatal = [result for result in answer.results if result.severity == SEVERITY_FATAL]
    assert fatal == []
    assert answer.desired is not None
    assert answer.desired.resources["earlier"] == BEFORE.resources["earlier"]
    return {name: resource for name, resource in answer.desired.resources.items() if name != "earlier"}
