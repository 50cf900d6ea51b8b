"""Requests that show each of the functions in published/ all it looks at, by what is special about them."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import READY_TRUE, Request, Resource, State
from crossply.values import Object
from crossply.values.protobuf_struct import to_wire

SPEC = {"region": "eu-west-1", "names": ["a", "b-ü"], "count": 3}
READY = [
    {"type": "Synced", "status": "True"},
    {
        "type": "Ready",
        "status": "True",
        "reason": "Available",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    },
]
NOT_READY = [{"type": "Ready", "status": "False", "message": "creating"}]


def resource(kind: str, name: str = "", **fields: Any) -> Resource:
    return Resource(to_wire({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **fields}))


def xr(**spec: Any) -> Resource:
    return resource("XR", "my-xr", spec={**SPEC, **spec})


OBSERVED = {
    "db": Resource(
        to_wire({"kind": "Database", "status": {"conditions": READY}}), {"password": b"\x00secret\xff"}
    ),
    "cache": Resource(to_wire({"kind": "Cache", "status": {"conditions": NOT_READY}})),
    "new": Resource(to_wire({"kind": "New", "status": {}})),
    "bare": Resource({}),
}
DESIRED = State(
    Resource(to_wire({"status": {"kept": 1}}), {"user": b"u"}),
    {
        "before": Resource(to_wire({"kind": "Kept", "metadata": {"labels": {"a": "b"}}}), {}, READY_TRUE),
        "unwanted": Resource({"kind": "Unwanted"}),
    },
)
REQUIRED = {
    "one": (resource("ConfigMap", "settings", data={"k": "v"}),),
    "some": (resource("ConfigMap", "x"), resource("ConfigMap", "y")),
    "ops.crossplane.io/watched-resource": (resource("Pod", "p", spec={"n": 1}),),
}
CONTEXT = {"apiextensions.crossplane.io/environment": {"zone": "z1"}}
SCHEMA: Object = {"properties": {"spec": {}, "status": {}}}

REQUESTS = {
    "plain": Request(State(xr())),
    "observed": Request(State(xr(), OBSERVED), DESIRED, context=CONTEXT),
    "all ready": Request(State(xr(), {"db": OBSERVED["db"]})),
    "found": Request(
        State(xr()),
        DESIRED,
        required_resources=REQUIRED,
        required_schemas={"xr": SCHEMA},
        credentials={"cloud": {"key": b"k", "secret": "s\u00fc".encode()}},
        input=to_wire({"apiVersion": "in.example.org/v1", "kind": "Input", "size": 7, "list": [1, 2.5]}),
    ),
    "not found": Request(State(xr()), required_resources={"one": ()}, required_schemas={"xr": None}),
    "old engine": Request(State(xr(broken=True)), capabilities=()),
    "tagged": Request(State(xr()), tag="given"),
    "empty": Request(State()),
}
ODD = ("set", "nan", "nan struct", "surrogate", "huge", "key", "deep", "unsupported", "missing", "both")
REQUESTS |= {f"odd {value}": Request(State(xr(odd=value))) for value in ODD}
