"""Requests and responses of functions as JSON for people, with the names that the protocol has in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossply.compose.function_messages import (
    NO_STATE,
    SECOND,
    Condition,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    Result,
    SchemaSelector,
    State,
)
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire

_READY = {1: "READY_TRUE", 2: "READY_FALSE"}
_SEVERITY = {0: "SEVERITY_UNSPECIFIED", 1: "SEVERITY_FATAL", 2: "SEVERITY_WARNING", 3: "SEVERITY_NORMAL"}
_TARGET = {0: "TARGET_UNSPECIFIED", 1: "TARGET_COMPOSITE", 2: "TARGET_COMPOSITE_AND_CLAIM"}
_STATUS = {
    0: "STATUS_CONDITION_UNSPECIFIED",
    1: "STATUS_CONDITION_UNKNOWN",
    2: "STATUS_CONDITION_TRUE",
    3: "STATUS_CONDITION_FALSE",
}


def request_json(request: Request) -> Object:
    """A RunFunctionRequest without its meta."""
    fields = {
        "observed": state_json(request.observed),
        "desired": state_json(request.desired),
        "input": _struct(request.input),
        "context": _struct(request.context),
        "credentials": {
            name: {"credentialData": {"data": _texts(values)}} for name, values in request.credentials.items()
        },
        "extraResources": _selected(request.extra_resources),
        "requiredResources": _selected(request.required_resources),
        "requiredSchemas": {
            name: {} if schema is None else {"openapiV3": schema}
            for name, schema in request.required_schemas.items()
        },
    }
    return {key: value for key, value in fields.items() if value}


def response_json(response: Response) -> Object:
    """A RunFunctionResponse without its tag."""
    fields = {
        "meta": {} if response.ttl is None else {"ttl": f"{response.ttl / SECOND:g}s"},
        "desired": state_json(response.desired),
        "results": [result_json(result) for result in response.results],
        "conditions": [condition_json(condition) for condition in response.conditions],
        "context": _struct(response.context),
        "requirements": requirements_json(response.requirements),
        "output": _struct(response.output),
    }
    return {key: value for key, value in fields.items() if value}


def state_json(state: State | None) -> Object:
    """A state; empty where there is none."""
    if state is None or state is NO_STATE:
        return {}
    fields: Object = {}
    if state.composite is not None:
        fields["composite"] = _resource(state.composite)
    if state.resources:
        fields["resources"] = {name: _resource(resource) for name, resource in state.resources.items()}
    return fields


def requirements_json(requirements: Requirements | None) -> Object:
    """What a function asks for."""
    if requirements is None:
        return {}
    fields = {
        "extraResources": {
            name: _selector(selector) for name, selector in requirements.extra_resources.items()
        },
        "resources": {name: _selector(selector) for name, selector in requirements.resources.items()},
        "schemas": {name: _schema_selector(selector) for name, selector in requirements.schemas.items()},
    }
    return {key: value for key, value in fields.items() if value}


def result_json(result: Result) -> Object:
    """Something that a function reports."""
    fields = {
        "severity": _SEVERITY.get(result.severity, result.severity),
        "message": result.message,
        "reason": result.reason,
        "target": None if result.target is None else _TARGET.get(result.target, result.target),
    }
    return {key: value for key, value in fields.items() if value is not None}


def condition_json(condition: Condition) -> Object:
    """A condition that a function wants."""
    fields = {
        "type": condition.type,
        "status": _STATUS.get(condition.status, condition.status),
        "reason": condition.reason,
        "message": condition.message,
        "target": None if condition.target is None else _TARGET.get(condition.target, condition.target),
    }
    return {key: value for key, value in fields.items() if value is not None}


def _resource(resource: Resource) -> Object:
    obj = resource.snapshot.object if resource.snapshot is not None else from_wire(resource.object)
    fields: Object = {"resource": obj}
    if resource.connection_details:
        fields["connectionDetails"] = _texts(resource.connection_details)
    if resource.ready in _READY:
        fields["ready"] = _READY[resource.ready]
    return fields


def _selected(resources: Mapping[str, tuple[Resource, ...]]) -> Object:
    return {
        name: {"items": [_resource(resource) for resource in matches]} for name, matches in resources.items()
    }


def _selector(selector: ResourceSelector) -> Object:
    fields: Object = {"apiVersion": selector.api_version, "kind": selector.kind}
    if selector.match_name is not None:
        fields["matchName"] = selector.match_name
    if selector.match_labels is not None:
        fields["matchLabels"] = {"labels": selector.match_labels}
    if selector.namespace:
        fields["namespace"] = selector.namespace
    return fields


def _schema_selector(selector: SchemaSelector) -> Object:
    return {"apiVersion": selector.api_version, "kind": selector.kind}


def _struct(value: Object | None) -> Any:
    return None if value is None else from_wire(value)


def _texts(details: Mapping[str, bytes]) -> dict[str, str]:
    return {key: value.decode(errors="replace") for key, value in details.items()}
