"""A request as JSON, for workers that read it as plain data.

Fields have the names of the protocol. Bytes are base64.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from crossply.compose.function_messages import Request, Resource, State
from crossply.values import Object
from crossply.values.quick_json import dumps


def as_json(value: object) -> bytes:
    """Keys are sorted, as they are on the wire: a program iterates over them in the same order in process."""
    return dumps(value, sort_keys=True)


def state_data(state: State) -> Object:
    """A state, including empty fields as a protobuf message has them."""
    return {
        "composite": resource_data(state.composite or Resource({})),
        "resources": {name: resource_data(resource) for name, resource in state.resources.items()},
    }


def resource_data(resource: Resource) -> Object:
    return {
        "resource": resource.object,
        "connection_details": _encoded(resource.connection_details),
        "ready": resource.ready,
    }


def request_data(request: Request) -> Object:
    """A request without its input."""
    return {
        "meta": {"tag": request.tag, "capabilities": list(request.capabilities)},
        "observed": state_data(request.observed),
        "desired": state_data(request.desired),
        "context": request.context or {},
        "required_resources": _resources(request.required_resources),
        "extra_resources": _resources(request.extra_resources),
        "required_schemas": {
            name: {"openapi_v3": schema} for name, schema in request.required_schemas.items()
        },
        "credentials": {
            name: {"credential_data": {"data": _encoded(data)}} for name, data in request.credentials.items()
        },
    }


def _resources(resources: Mapping[str, tuple[Resource, ...]]) -> Object:
    return {name: {"items": [resource_data(item) for item in items]} for name, items in resources.items()}


def _encoded(details: Mapping[str, bytes]) -> dict[str, str]:
    return {key: b64encode(value).decode() for key, value in details.items()}
