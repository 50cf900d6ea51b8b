"""Requests and responses of functions as YAML, with the field names of protobuf's JSON."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from crossply.compose import function_messages
from crossply.errors import CrossplyError
from crossply.manifests.files import first_document
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire, to_wire

_READY = ("READY_UNSPECIFIED", "READY_TRUE", "READY_FALSE")
_SEVERITY = ("SEVERITY_UNSPECIFIED", "SEVERITY_FATAL", "SEVERITY_WARNING", "SEVERITY_NORMAL")
_TARGET = ("TARGET_UNSPECIFIED", "TARGET_COMPOSITE", "TARGET_COMPOSITE_AND_CLAIM")
_ERROR_PREFIX = "cannot read request"
_STATUS = ("UNSPECIFIED", "UNKNOWN", "TRUE", "FALSE")


class RequestFileError(CrossplyError):
    """A file does not hold a request to a function."""

    code = "CP-598"
    hint = "it is a RunFunctionRequest: observed, desired, input, context and so on; or an XR alone"


def read_request(path: str) -> function_messages.Request:
    """The request in a file, or the one that a step would get for the XR in it; - is standard input."""
    from crossply.functions.builtin import protojson

    file = "/dev/stdin" if path == "-" else path
    value = first_document(file, _ERROR_PREFIX, _ERROR_PREFIX).value
    if not isinstance(value, dict):
        raise RequestFileError(f"{_ERROR_PREFIX}: {path} is not a mapping")
    if "apiVersion" in value and "kind" in value:
        value = {"observed": {"composite": {"resource": value}}, "desired": {}, "context": {}}
    try:
        return protojson.read_request(to_wire(value))
    except protojson.MessageError as problem:
        raise RequestFileError(f"{_ERROR_PREFIX}: {path}: {problem}") from None


def answer_of(response: function_messages.Response) -> Object:
    """A response as a mapping; what is empty is left out."""
    tag = response.tag if isinstance(response.tag, str) else response.tag.tag
    return _without_empty(
        {
            "meta": _without_empty({"tag": tag, "ttl": _duration(response.ttl)}),
            "desired": None if response.desired is None else _state_out(response.desired),
            "results": [_result_out(result) for result in response.results],
            "context": _object_out(response.context),
            "requirements": None if response.requirements is None else _requirements(response.requirements),
            "conditions": [_condition_out(condition) for condition in response.conditions],
            "output": _object_out(response.output),
        }
    )


def _duration(nanoseconds: int | None) -> str | None:
    if nanoseconds is None:
        return None
    return f"{nanoseconds / function_messages.SECOND:.9f}".rstrip("0").rstrip(".") + "s"


def _without_empty(fields: Object) -> Object:
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def _object_out(value: Object | None) -> Object | None:
    return None if value is None else from_wire(value)


def _state_out(state: function_messages.State) -> Object:
    return _without_empty(
        {
            "composite": None if state.composite is None else _resource_out(state.composite),
            "resources": {name: _resource_out(resource) for name, resource in state.resources.items()},
        }
    )


def _resource_out(resource: function_messages.Resource) -> Object:
    details = {name: b64encode(value).decode() for name, value in resource.connection_details.items()}
    fields: Object = {"resource": from_wire(resource.object), "connectionDetails": details}
    return _without_empty({**fields, "ready": _name(_READY, resource.ready or None)})


def _result_out(result: function_messages.Result) -> Object:
    return _without_empty(
        {
            "severity": _name(_SEVERITY, result.severity),
            "message": result.message,
            "reason": result.reason,
            "target": _name(_TARGET, result.target),
        }
    )


def _condition_out(condition: function_messages.Condition) -> Object:
    status = _name(_STATUS, condition.status)
    return _without_empty(
        {
            "type": condition.type,
            "status": f"STATUS_CONDITION_{status}",
            "reason": condition.reason,
            "message": condition.message,
            "target": _name(_TARGET, condition.target),
        }
    )


def _name(names: tuple[str, ...], number: int | None) -> Any:
    return names[number] if number is not None and 0 <= number < len(names) else number


def _requirements(requirements: function_messages.Requirements) -> Object:
    schemas = {
        name: {"apiVersion": schema[0], "kind": schema[1]} for name, schema in requirements.schemas.items()
    }
    return _without_empty(
        {
            "extraResources": _selectors(requirements.extra_resources),
            "resources": _selectors(requirements.resources),
            "schemas": schemas,
            "watchResources": [_ref(ref) for ref in requirements.watch_resources],
        }
    )


def _ref(ref: function_messages.ResourceRef) -> Object:
    return _without_empty(
        {"apiVersion": ref.api_version, "kind": ref.kind, "name": ref.name, "namespace": ref.namespace}
    )


def _selectors(selectors: Mapping[str, function_messages.ResourceSelector]) -> Object:
    return {name: _selector(selector) for name, selector in selectors.items()}


def _selector(selector: function_messages.ResourceSelector) -> Object:
    labels = selector.match_labels
    return _without_empty(
        {
            "apiVersion": selector.api_version,
            "kind": selector.kind,
            "matchName": selector.match_name,
            "matchLabels": None if labels is None else {"labels": labels},
            "namespace": selector.namespace,
        }
    )
