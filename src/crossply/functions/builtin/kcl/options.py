"""What a program reads with `option("params")`: the request, and the parameters of the input."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from crossply.compose.function_messages import READY_FALSE, READY_TRUE, READY_UNSPECIFIED, Request, Resource
from crossply.compose.object_metadata import text_in
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire
from crossply.values.quick_json import dumps

READY = {READY_UNSPECIFIED: "Unspecified", READY_TRUE: "True", READY_FALSE: "False"}
_NOTHING = Resource({})


def params_json(request: Request, params: Object) -> bytes:
    """The value of `option("params")` as JSON. Names of the request hide parameters of the input."""
    observed = request.observed
    values = {
        **params,
        "oxr": (observed.composite or _NOTHING).object,
        "dxr": desired_composite(request),
        "ocds": {name: _observed(resource) for name, resource in observed.resources.items()},
        "dcds": {name: _desired(resource) for name, resource in request.desired.resources.items()},
        "ctx": request.context or {},
        "extraResources": _required(request.extra_resources),
        "requiredResources": _required(request.required_resources),
    }
    return dumps(from_wire(values), sort_keys=True)


def desired_composite(request: Request) -> Object:
    """The desired XR with the kind of the observed one."""
    observed = (request.observed.composite or _NOTHING).object
    desired = (request.desired.composite or _NOTHING).object
    return {**desired, "apiVersion": text_in(observed, "apiVersion"), "kind": text_in(observed, "kind")}


def _observed(resource: Resource) -> Object:
    details = {key: b64encode(value).decode() for key, value in resource.connection_details.items()}
    return {"Resource": resource.object, "ConnectionDetails": details}


def _desired(resource: Resource) -> Object:
    return {"Resource": resource.object, "Ready": READY.get(resource.ready, "")}


def _required(groups: Mapping[str, tuple[Resource, ...]]) -> Object:
    return {name: [{"Resource": item.object} for item in items] for name, items in groups.items()}
