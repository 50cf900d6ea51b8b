"""OpenAPI schemas of the kinds that Kubernetes itself serves, made of their Go types (`builtin_go_types`).

They say what a field is, not what it means: types, formats and nothing else. A schema inside of itself is an
empty object.
"""

from __future__ import annotations

import functools

from crossply.schema.builtin_go_types import go_types, type_of_kind
from crossply.values import Object

_TEXT: Object = {"type": "string"}
_TIME: Object = {"type": "string", "format": "date-time"}
_SCALARS: dict[str, Object] = {
    "string": _TEXT,
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
    "intstr.IntOrString": {"format": "int-or-string", "oneOf": [{"type": "integer"}, _TEXT]},
    "resource.Quantity": {"oneOf": [_TEXT, {"type": "number"}]},
    "runtime.RawExtension": {"type": "object"},
    "v1.FieldsV1": {"type": "object"},
    "v1.Time": _TIME,
    "v1.MicroTime": _TIME,
}
_DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


def builtin_schema(api_version: str, kind: str) -> Object | None:
    """The schema of a built-in kind, or None. It must not be changed."""
    type_name = type_of_kind(api_version, kind)
    if type_name is None and (api_version, kind) == _DEFINITION:
        type_name = "v1.CustomResourceDefinition"
    return None if type_name is None else _schema_of(type_name)


def object_meta() -> Object:
    """The schema of every object's metadata. It must not be changed."""
    return _schema_of("v1.ObjectMeta")


@functools.cache
def _schema_of(type_name: str) -> Object:
    return _schema(type_name, frozenset())


def _schema(type_name: str, around: frozenset[str]) -> Object:
    # `Embedded>T` is a field of an embedded struct, `Name=T` and `Name:string` are types with a name.
    type_name = type_name.rpartition(">")[2]
    type_name = type_name.rpartition("=")[2]
    if type_name.startswith("[]"):
        return {"type": "array", "items": _schema(type_name[2:], around)}
    if type_name.startswith("{}"):
        return {"type": "object", "additionalProperties": _schema(type_name[2:], around)}
    if type_name.endswith(":string"):
        return _TEXT
    if type_name in _SCALARS:
        return _SCALARS[type_name]
    fields = go_types().types.get(type_name)
    if not isinstance(fields, dict):
        return {}
    if type_name in around:
        return {"type": "object"}
    around |= {type_name}
    return {"type": "object", "properties": {name: _schema(below, around) for name, below in fields.items()}}
