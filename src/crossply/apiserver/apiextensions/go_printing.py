"""Prints parts of a definition as Go does in errors: Go's field names, all of them, in its order.

kube-apiserver validates an internal form of definitions whose fields have no JSON names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from crossply.schema.field_errors import INVALID, OMITTED, FieldError
from crossply.values import Object
from crossply.values.gojson import dumps

Show = Callable[[Any], str]
Shape = tuple[tuple[str, str, str, Show | None], ...]
"""Fields of a struct: the Go name, the JSON name, the zero value, and how a value is printed."""


def invalid_struct(path: str, shown: str, detail: str) -> FieldError:
    """An invalid value, printed as a Go struct."""
    return FieldError(INVALID, path, OMITTED, f"{shown}: {detail}")


def show_rule(rule: Object) -> str:
    return _struct(_RULE)(rule)


def show_schema(schema: Object) -> str:
    return _struct(_SCHEMA)(schema)


def show_versions(versions: list[Object]) -> str:
    return _list(_struct(_VERSION))(versions)


def show_items(items: Any) -> str:
    """The `items` of a schema: one schema, or a list of them."""
    if isinstance(items, list):
        return f'{{"Schema":null,"JSONSchemas":{_list(show_schema)(items)}}}'
    return f'{{"Schema":{show_schema(items)},"JSONSchemas":null}}'


def _struct(shape: Shape) -> Show:
    def show(value: Any) -> str:
        members = []
        for go_name, name, zero, inner in shape:
            member = value.get(name)
            text = zero if member is None else (inner or dumps)(member)
            members.append(f'"{go_name}":{text}')
        return "{" + ",".join(members) + "}"

    return show


def _list(show: Show) -> Show:
    return lambda value: "[" + ",".join(map(show, value)) + "]"


def _map(show: Show) -> Show:
    return lambda value: "{" + ",".join(f"{dumps(key)}:{show(value[key])}" for key in sorted(value)) + "}"


def _schema_or_bool(value: Any) -> str:
    if isinstance(value, dict):
        return f'{{"Allows":true,"Schema":{show_schema(value)}}}'
    return f'{{"Allows":{dumps(value)},"Schema":null}}'


def _dependency(value: Any) -> str:
    if isinstance(value, dict):
        return f'{{"Schema":{show_schema(value)},"Property":null}}'
    return f'{{"Schema":null,"Property":{dumps(value)}}}'


def _plain(zero: str, *names: str) -> Shape:
    return tuple((name[0].upper() + name[1:], name, zero, None) for name in names)


_RULE: Shape = (
    *_plain('""', "rule", "message", "messageExpression"),
    *_plain("null", "reason"),
    *_plain('""', "fieldPath"),
    *_plain("null", "optionalOldSelf"),
)
_DOCS: Shape = (("Description", "description", '""', None), ("URL", "url", '""', None))
_SCHEMA: Shape = (
    ("ID", "id", '""', None),
    ("Schema", "$schema", '""', None),
    ("Ref", "$ref", "null", None),
    *_plain('""', "description", "type"),
    *_plain("false", "nullable"),
    *_plain('""', "format", "title"),
    *_plain("null", "default", "maximum"),
    *_plain("false", "exclusiveMaximum"),
    *_plain("null", "minimum"),
    *_plain("false", "exclusiveMinimum"),
    *_plain("null", "maxLength", "minLength"),
    *_plain('""', "pattern"),
    *_plain("null", "maxItems", "minItems"),
    *_plain("false", "uniqueItems"),
    *_plain("null", "multipleOf", "enum", "maxProperties", "minProperties", "required"),
    ("Items", "items", "null", show_items),
    ("AllOf", "allOf", "null", _list(show_schema)),
    ("OneOf", "oneOf", "null", _list(show_schema)),
    ("AnyOf", "anyOf", "null", _list(show_schema)),
    ("Not", "not", "null", show_schema),
    ("Properties", "properties", "null", _map(show_schema)),
    ("AdditionalProperties", "additionalProperties", "null", _schema_or_bool),
    ("PatternProperties", "patternProperties", "null", _map(show_schema)),
    ("Dependencies", "dependencies", "null", _map(_dependency)),
    ("AdditionalItems", "additionalItems", "null", _schema_or_bool),
    ("Definitions", "definitions", "null", _map(show_schema)),
    ("ExternalDocs", "externalDocs", "null", _struct(_DOCS)),
    *_plain("null", "example"),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", "null", None),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", "false", None),
    ("XIntOrString", "x-kubernetes-int-or-string", "false", None),
    ("XListMapKeys", "x-kubernetes-list-map-keys", "null", None),
    ("XListType", "x-kubernetes-list-type", "null", None),
    ("XMapType", "x-kubernetes-map-type", "null", None),
    ("XValidations", "x-kubernetes-validations", "null", _list(show_rule)),
)
_SCALE: Shape = (
    ("SpecReplicasPath", "specReplicasPath", '""', None),
    ("StatusReplicasPath", "statusReplicasPath", '""', None),
    ("LabelSelectorPath", "labelSelectorPath", "null", None),
)
_SUBRESOURCES: Shape = (
    ("Status", "status", "null", lambda _: "{}"),
    ("Scale", "scale", "null", _struct(_SCALE)),
)
_COLUMN: Shape = (
    *_plain('""', "name", "type", "format", "description"),
    ("Priority", "priority", "0", None),
    ("JSONPath", "jsonPath", '""', None),
)
_VERSION: Shape = (
    ("Name", "name", '""', None),
    *_plain("false", "served", "storage", "deprecated"),
    *_plain("null", "deprecationWarning"),
    ("Schema", "schema", "null", _struct((("OpenAPIV3Schema", "openAPIV3Schema", "null", show_schema),))),
    ("Subresources", "subresources", "null", _struct(_SUBRESOURCES)),
    ("AdditionalPrinterColumns", "additionalPrinterColumns", "null", _list(_struct(_COLUMN))),
    ("SelectableFields", "selectableFields", "null", _list(_struct((("JSONPath", "jsonPath", '""', None),)))),
)


@functools.cache
def schema_keys() -> tuple[str, ...]:
    """The keywords of a schema in the order of Go's struct."""
    return tuple(name for _, name, _, _ in _SCHEMA)
