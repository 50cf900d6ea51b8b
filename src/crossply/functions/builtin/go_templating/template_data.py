"""The data of a template: the request in protobuf's JSON encoding.

Keys are camelCase, bytes are base64, and whole numbers are int64, as Kubernetes' JSON decoder makes them.
Messages that were sent are present even when they are empty: a pipeline starts with an empty context and an
empty desired state. Empty maps, lists and strings are omitted. All containers are copies, so a template may
change its data.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping
from typing import Any

from crossply.compose.function_messages import NO_STATE, READY_FALSE, READY_TRUE, Request, Resource, State
from crossply.functions.builtin.go_templating.engine.go_types import Int64
from crossply.values import Object

_READY = {READY_TRUE: "READY_TRUE", READY_FALSE: "READY_FALSE"}
_CAPABILITIES = {
    0: "CAPABILITY_UNSPECIFIED",
    1: "CAPABILITY_CAPABILITIES",
    2: "CAPABILITY_REQUIRED_RESOURCES",
    3: "CAPABILITY_CREDENTIALS",
    4: "CAPABILITY_CONDITIONS",
    5: "CAPABILITY_REQUIRED_SCHEMAS",
}
_INT64 = 2.0**63


def data_of(request: Request) -> Object:
    """The data of a template for a request."""
    messages = {
        "observed": _state(request.observed),
        "desired": _state(request.desired),
        "input": view(request.input),
        "context": view(request.context),
    }
    maps = {
        "meta": _meta(request),
        "extraResources": _groups(request.extra_resources),
        "credentials": _credentials(request.credentials),
        "requiredResources": _groups(request.required_resources),
        "requiredSchemas": _schemas(request.required_schemas),
    }
    data: Object = {name: message for name, message in messages.items() if message is not None}
    data |= {name: entries for name, entries in maps.items() if entries}
    if "extraResources" not in data and "requiredResources" in data:
        data["extraResources"] = data["requiredResources"]
    return data


def view(value: Any) -> Any:
    """A value of a request with whole numbers as int64."""
    kind = value.__class__
    if kind is str or kind is bool or value is None:
        return value
    if kind is dict:
        return {key: item if item.__class__ is str else view(item) for key, item in value.items()}
    if kind is list:
        return [item if item.__class__ is str else view(item) for item in value]
    if kind is float and (not value.is_integer() or not -_INT64 <= value < _INT64):
        return value
    return Int64(value)


def _meta(request: Request) -> Object:
    meta: Object = {}
    if request.tag:
        meta["tag"] = request.tag
    if request.capabilities:
        meta["capabilities"] = [_CAPABILITIES.get(number, Int64(number)) for number in request.capabilities]
    return meta


def _state(state: State) -> Object | None:
    if state is NO_STATE:
        return None
    shown: Object = {}
    if state.composite is not None:
        shown["composite"] = _resource(state.composite)
    if state.resources:
        shown["resources"] = {name: _resource(resource) for name, resource in state.resources.items()}
    return shown


def _resource(resource: Resource) -> Object:
    shown: Object = {"resource": view(resource.object)}
    if resource.connection_details:
        shown["connectionDetails"] = _encoded(resource.connection_details)
    if resource.ready:
        shown["ready"] = _READY.get(resource.ready, Int64(resource.ready))
    return shown


def _encoded(secrets: Mapping[str, bytes]) -> Object:
    return {name: b2a_base64(value, newline=False).decode() for name, value in secrets.items()}


def _groups(groups: Mapping[str, tuple[Resource, ...]]) -> Object:
    return {
        name: {"items": [_resource(resource) for resource in group]} if group else {}
        for name, group in groups.items()
    }


def _credentials(credentials: Mapping[str, Mapping[str, bytes]]) -> Object:
    return {
        name: {"credentialData": {"data": _encoded(secrets)} if secrets else {}}
        for name, secrets in credentials.items()
    }


def _schemas(schemas: Mapping[str, Object | None]) -> Object:
    return {name: {} if schema is None else {"openapiV3": view(schema)} for name, schema in schemas.items()}
