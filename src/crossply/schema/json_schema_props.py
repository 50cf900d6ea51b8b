"""The Go type of an OpenAPI schema inside a CRD, JSONSchemaProps.

A definition carries its schema as raw JSON; deriving a CRD decodes it into this type, which drops what a CRD
cannot say and refuses what has the wrong type.
"""

from __future__ import annotations

from typing import Any

from crossply.kinds.gostructs import (
    BOOL,
    FLOAT,
    INT64,
    JSON_STRING,
    RAW,
    DecodeError,
    Field,
    GoType,
    PlainError,
    list_of,
    map_of,
    round_trip,
    struct,
)
from crossply.values import Object


def decode_props(schema: Any) -> Object:
    """A schema as a CRD would hold it; raises DecodeError."""
    if schema is None:
        raise PlainError("unexpected end of JSON input")
    props: Object = round_trip(schema, PROPS)
    return props


def _props_or_list(value: Any) -> Any:
    """`items`: a schema or a list of schemas; anything else is forgotten."""
    if isinstance(value, dict):
        return PROPS.pass_through(value)
    return (_PROPS_LIST.pass_through(value) or None) if isinstance(value, list) else None


def _props_or_bool(value: Any) -> Any:
    """`additionalProperties`: a schema, true or false."""
    if isinstance(value, dict):
        return PROPS.pass_through(value)
    if isinstance(value, bool):
        return value
    raise PlainError("boolean or JSON schema expected")


def _props_or_strings(value: Any) -> Any:
    """An entry of `dependencies`: a schema or a list of property names."""
    if isinstance(value, dict):
        return PROPS.pass_through(value)
    return (_STRINGS.pass_through(value) or None) if isinstance(value, list) else None


def _pointer(go_type: GoType) -> Field:
    return Field(go_type, pointer=True)


_FIELDS: dict[str, Field] = {}
PROPS = struct("JSONSchemaProps", _FIELDS)
_PROPS_LIST = list_of(PROPS)
_PROPS_MAP = map_of(PROPS)
_STRINGS = list_of(JSON_STRING)
_PROPS_OR_LIST = GoType("v1.JSONSchemaPropsOrArray", _props_or_list)
_PROPS_OR_BOOL = GoType("v1.JSONSchemaPropsOrBool", _props_or_bool)
_DEPENDENCY = GoType("v1.JSONSchemaPropsOrStringArray", _props_or_strings)

_RULE = struct(
    "ValidationRule",
    {
        "rule": Field(JSON_STRING, optional=False),
        "message": Field(JSON_STRING),
        "messageExpression": Field(JSON_STRING),
        "reason": _pointer(JSON_STRING._replace(name="v1.FieldValueErrorReason")),
        "fieldPath": Field(JSON_STRING),
        "optionalOldSelf": _pointer(BOOL),
    },
)
_EXTERNAL_DOCS = struct(
    "ExternalDocumentation", {"description": Field(JSON_STRING), "url": Field(JSON_STRING)}
)

_FIELDS.update(
    {key: Field(JSON_STRING) for key in ("id", "description", "type", "format", "title", "pattern")}
    | {key: Field(_PROPS_LIST) for key in ("allOf", "oneOf", "anyOf")}
    | {key: Field(_PROPS_MAP) for key in ("properties", "patternProperties")}
    | {key: _pointer(FLOAT) for key in ("maximum", "minimum", "multipleOf")}
    | {
        key: _pointer(INT64)
        for key in ("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties")
    }
    | {
        key: Field(BOOL)
        for key in (
            "exclusiveMaximum",
            "exclusiveMinimum",
            "uniqueItems",
            "nullable",
            "x-kubernetes-embedded-resource",
            "x-kubernetes-int-or-string",
        )
    }
    | {
        "$schema": Field(JSON_STRING._replace(name="v1.JSONSchemaURL")),
        "$ref": _pointer(JSON_STRING),
        "default": _pointer(RAW),
        "example": _pointer(RAW),
        "enum": Field(list_of(RAW, "[]v1.JSON")),
        "required": Field(_STRINGS),
        "items": _pointer(_PROPS_OR_LIST),
        "not": _pointer(PROPS),
        "additionalProperties": _pointer(_PROPS_OR_BOOL),
        "additionalItems": _pointer(_PROPS_OR_BOOL),
        "dependencies": Field(map_of(_DEPENDENCY, "v1.JSONSchemaDependencies")),
        "definitions": Field(map_of(PROPS, "v1.JSONSchemaDefinitions")),
        "externalDocs": _pointer(_EXTERNAL_DOCS),
        "x-kubernetes-preserve-unknown-fields": _pointer(BOOL),
        "x-kubernetes-list-map-keys": Field(_STRINGS),
        "x-kubernetes-list-type": _pointer(JSON_STRING),
        "x-kubernetes-map-type": _pointer(JSON_STRING),
        "x-kubernetes-validations": Field(list_of(_RULE, "v1.ValidationRules")),
    }
)

__all__ = ["PROPS", "DecodeError", "decode_props"]
