"""Programs in KCL as steps: what they are given, and what they make of it."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import READY_TRUE, SEVERITY_FATAL, Request, Resource, Response, State
from crossply.functions.builtin.kcl.function import run
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire, to_wire

XR: Object = to_wire(
    {
        "apiVersion": "example.org/v1",
        "kind": "Store",
        "metadata": {"name": "store"},
        "spec": {"count": 3, "region": "eu", "ratio": 0.5},
    }
)
DATABASE: Object = to_wire(
    {"apiVersion": "v1", "kind": "DB", "metadata": {"name": "db-1"}, "status": {"host": "h"}}
)
EARLIER: Object = to_wire(
    {
        "apiVersion": "v1",
        "kind": "Earlier",
        "metadata": {"name": "earlier"},
        "spec": {"size": 1, "tags": ["a"]},
    }
)
OBSERVED = State(Resource(XR), {"db": Resource(DATABASE, {"user": b"u"})})
BEFORE = State(Resource({"status": {"old": 1.0}}), {"earlier": Resource(EARLIER, {}, READY_TRUE)})


def answered(source: str, *, desired: State | None = BEFORE, **more: Any) -> Response:
    """The response of a step; `spec` are further fields of its input's spec."""
    input_ = {
        "apiVersion": "krm.kcl.dev/v1alpha1",
        "kind": "KCLInput",
        "spec": {"source": source, **more.pop("spec", {})},
    }
    observed = more.pop("observed", OBSERVED)
    return run(Request(observed, desired, input=to_wire(input_), tag="t", **more))


def fatal_of(answer: Response) -> str:
    """The message of the fatal result."""
    messages = [result.message for result in answer.results if result.severity == SEVERITY_FATAL]
    assert len(messages) == 1, answer.results
    return messages[0]


def desired_by(source: str, **more: Any) -> State:
    """The desired state after a step that succeeds, with the integers of Kubernetes."""
    answer = answered(source, **more)
    messages = [result.message for result in answer.results if result.severity == SEVERITY_FATAL]
    assert not messages, messages
    assert answer.desired is not None
    composite = answer.desired.composite
    assert composite is not None
    return State(
        composite._replace(object=from_wire(composite.object)),
        {
            name: resource._replace(object=from_wire(resource.object), snapshot=None)
            for name, resource in answer.desired.resources.items()
        },
    )


def composed(source: str, **more: Any) -> dict[str, Resource]:
    """The resources that a program adds."""
    resources = desired_by(source, **more).resources
    return {name: resource for name, resource in resources.items() if name != "earlier"}


def value_of(expression: str, **more: Any) -> Any:
    """The value of an expression in a program."""
    return composed(f'items = [{{metadata.name = "r", v = {expression}}}]', **more)["r"].object["v"]
