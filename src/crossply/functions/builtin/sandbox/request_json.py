"""A request as JSON, for workers that look at it as plain data: quick to write and quick to read.

Members have the names of the protocol's fields. What is bytes there is base64 here.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from crossply.compose.messages import Request, Resource, State
from crossply.values import Object


def as_json(value: object) -> bytes:
    """Plain data as JSON."""
    import orjson

    return orjson.dumps(value)


def state_data(state: State) -> Object:
    """A state, with the members that a protobuf message would have even when they are empty."""
    return {
        "composite": resource_data(state.composite or Resource({})),
        "resources": {name: resource_data(each) for name, each in state.resources.items()},
    }


def resource_data(resource: Resource) -> Object:
    """One resource of a state."""
    return {
        "resource": resource.object,
        "connection_details": _encoded(resource.connection_details),
        "ready": resource.ready,
    }


def request_data(request: Request) -> Object:
    """Everything that a request says, but for its input."""
    return {
        "meta": {"tag": request.tag, "capabilities": list(request.capabilities)},
        "observed": state_data(request.observed),
        "desired": state_data(request.desired),
        "context": request.context or {},
        "required_resources": _resources(request.required_resources),
        "extra_resources": _resources(request.extra_resources),
        "required_schemas": {name: {"openapi_v3": each} for name, each in request.required_schemas.items()},
        "credentials": {
            name: {"credential_data": {"data": _encoded(data)}} for name, data in request.credentials.items()
        },
    }


def _resources(found: Mapping[str, tuple[Resource, ...]]) -> Object:
    return {name: {"items": [resource_data(each) for each in items]} for name, items in found.items()}


def _encoded(details: Mapping[str, bytes]) -> dict[str, str]:
    return {key: b64encode(value).decode() for key, value in details.items()}
