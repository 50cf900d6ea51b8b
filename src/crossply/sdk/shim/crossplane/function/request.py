"""Reading requests."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import resource
from .proto.v1 import run_function_pb2 as fnv1

WATCHED = "ops.crossplane.io/watched-resource"
"""The requirement that holds the resource which a WatchOperation is about."""


@dataclasses.dataclass
class Credentials:
    """Credentials that a step was given."""

    type: str
    data: dict[str, Any]


def get_required_resources(req: Any, name: str) -> list[dict[str, Any]]:
    """The resources of a requirement; none where there are none, or they were not fetched yet."""
    if name not in req.required_resources:
        return []
    return [resource.struct_to_dict(item.resource) for item in req.required_resources[name].items]


def get_required_resource(req: Any, name: str) -> dict[str, Any] | None:
    """The first resource of a requirement, if there is one."""
    resources = get_required_resources(req, name)
    return resources[0] if resources else None


def get_watched_resource(req: Any) -> dict[str, Any] | None:
    """The resource whose change started the operation, if one did."""
    return get_required_resource(req, WATCHED)


def get_required_schema(req: Any, name: str) -> dict[str, Any] | None:
    """The OpenAPI schema of a requirement, if there is one and it was fetched."""
    if name not in req.required_schemas:
        return None
    schema = req.required_schemas[name]
    return resource.struct_to_dict(schema.openapi_v3) if schema.HasField("openapi_v3") else None


def get_credentials(req: Any, name: str) -> Credentials:
    """Credentials by name, as strings; empty where there are none."""
    if not req or name not in req.credentials:
        return Credentials(type="data", data={})
    credentials = req.credentials[name]
    if credentials.WhichOneof("source") != "credential_data":
        return Credentials(type="data", data={})
    data = {key: value.decode("utf-8") for key, value in credentials.credential_data.data.items()}
    return Credentials(type="credential_data", data=data)


def advertises_capabilities(req: Any) -> bool:
    """Whether the engine advertises capabilities; older ones do not."""
    return has_capability(req, fnv1.CAPABILITY_CAPABILITIES)


def has_capability(req: Any, cap: int) -> bool:
    """Whether the engine has a capability."""
    return cap in req.meta.capabilities
