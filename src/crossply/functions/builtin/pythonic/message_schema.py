"""The messages of the function protocol: the fields of each, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

ONE, MAP, LIST = "one", "map", "list"


class Scalar(NamedTuple):
    """A type of scalars."""

    default: str | bytes | int
    enum: tuple[str, ...] = ()
    """The names of an enum's numbers."""


class FieldType(NamedTuple):
    """What a field holds, once or many times: a scalar, a message, or an object of any content (None)."""

    holds: Scalar | str | None
    form: str = ONE


class MessageType(NamedTuple):
    """A message: its fields, and those of which only one is set at a time."""

    name: str
    fields: Mapping[str, FieldType]
    one_of: tuple[str, ...] = ()


_TEXT, _BYTES, _INTEGER = Scalar(""), Scalar(b""), Scalar(0)
_READY = Scalar(0, ("READY_UNSPECIFIED", "READY_TRUE", "READY_FALSE"))
_SEVERITY = Scalar(0, ("SEVERITY_UNSPECIFIED", "SEVERITY_FATAL", "SEVERITY_WARNING", "SEVERITY_NORMAL"))
_TARGET = Scalar(0, ("TARGET_UNSPECIFIED", "TARGET_COMPOSITE", "TARGET_COMPOSITE_AND_CLAIM"))
_STATUS = Scalar(
    0,
    (
        "STATUS_CONDITION_UNSPECIFIED",
        "STATUS_CONDITION_UNKNOWN",
        "STATUS_CONDITION_TRUE",
        "STATUS_CONDITION_FALSE",
    ),
)
_CAPABILITY = Scalar(
    0,
    (
        "CAPABILITY_UNSPECIFIED",
        "CAPABILITY_CAPABILITIES",
        "CAPABILITY_REQUIRED_RESOURCES",
        "CAPABILITY_CREDENTIALS",
        "CAPABILITY_CONDITIONS",
        "CAPABILITY_REQUIRED_SCHEMAS",
    ),
)
_text, _object = FieldType(_TEXT), FieldType(None)

REQUEST, RESPONSE = "RunFunctionRequest", "RunFunctionResponse"

MESSAGE_TYPES = {
    message_type.name: message_type
    for message_type in (
        MessageType(
            REQUEST,
            {
                "meta": FieldType("RequestMeta"),
                "observed": FieldType("State"),
                "desired": FieldType("State"),
                "input": _object,
                "context": _object,
                "extra_resources": FieldType("Resources", MAP),
                "credentials": FieldType("Credentials", MAP),
                "required_resources": FieldType("Resources", MAP),
                "required_schemas": FieldType("Schema", MAP),
            },
        ),
        MessageType("RequestMeta", {"tag": _text, "capabilities": FieldType(_CAPABILITY, LIST)}),
        MessageType(
            RESPONSE,
            {
                "meta": FieldType("ResponseMeta"),
                "desired": FieldType("State"),
                "results": FieldType("Result", LIST),
                "context": _object,
                "requirements": FieldType("Requirements"),
                "conditions": FieldType("Condition", LIST),
                "output": _object,
            },
        ),
        MessageType("ResponseMeta", {"tag": _text, "ttl": FieldType("Duration")}),
        MessageType("Duration", {"seconds": FieldType(_INTEGER), "nanos": FieldType(_INTEGER)}),
        MessageType("State", {"composite": FieldType("Resource"), "resources": FieldType("Resource", MAP)}),
        MessageType(
            "Resource",
            {
                "resource": _object,
                "connection_details": FieldType(_BYTES, MAP),
                "ready": FieldType(_READY),
            },
        ),
        MessageType("Resources", {"items": FieldType("Resource", LIST)}),
        MessageType("Credentials", {"credential_data": FieldType("CredentialData")}),
        MessageType("CredentialData", {"data": FieldType(_BYTES, MAP)}),
        MessageType("Schema", {"openapi_v3": _object}),
        MessageType(
            "Requirements",
            {
                "extra_resources": FieldType("ResourceSelector", MAP),
                "resources": FieldType("ResourceSelector", MAP),
                "schemas": FieldType("SchemaSelector", MAP),
            },
        ),
        MessageType(
            "ResourceSelector",
            {
                "api_version": _text,
                "kind": _text,
                "match_name": _text,
                "match_labels": FieldType("MatchLabels"),
                "namespace": _text,
            },
            one_of=("match_name", "match_labels"),
        ),
        MessageType("MatchLabels", {"labels": FieldType(_TEXT, MAP)}),
        MessageType("SchemaSelector", {"api_version": _text, "kind": _text}),
        MessageType(
            "Result",
            {
                "severity": FieldType(_SEVERITY),
                "message": _text,
                "reason": _text,
                "target": FieldType(_TARGET),
            },
        ),
        MessageType(
            "Condition",
            {
                "type": _text,
                "status": FieldType(_STATUS),
                "reason": _text,
                "message": _text,
                "target": FieldType(_TARGET),
            },
        ),
    )
}
