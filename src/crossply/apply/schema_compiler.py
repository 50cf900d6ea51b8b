"""Compile an OpenAPI schema to a tree of types.

Custom resources bring a structural schema; built-in kinds bring one that refers to definitions by name, which
may refer to themselves. What a schema leaves open (`x-kubernetes-preserve-unknown-fields`, an object without
properties) is deduced from each value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crossply.apply.schema_types import DEDUCED, UNTYPED, ListType, MapType, Type
from crossply.values import Object

_STRING: Object = {"type": "string"}
_TIME: Object = {"type": "string", "format": "date-time"}
_INTEGER: Object = {"type": "integer", "format": "int64"}
_STRINGS: Object = {"type": "object", "additionalProperties": _STRING}

_OWNER: Object = {
    "type": "object",
    "x-kubernetes-map-type": "atomic",
    "properties": {
        "apiVersion": {"type": "string", "default": ""},
        "blockOwnerDeletion": {"type": "boolean"},
        "controller": {"type": "boolean"},
        "kind": {"type": "string", "default": ""},
        "name": {"type": "string", "default": ""},
        "uid": {"type": "string", "default": ""},
    },
}

_MANAGED: Object = {
    "type": "object",
    "properties": {
        "apiVersion": _STRING,
        "fieldsType": _STRING,
        "fieldsV1": {"type": "object"},
        "manager": _STRING,
        "operation": _STRING,
        "subresource": _STRING,
        "time": _TIME,
    },
}

# The metadata of every kind, whatever its own schema says of it.
OBJECT_META: Object = {
    "type": "object",
    "properties": {
        "annotations": _STRINGS,
        "creationTimestamp": _TIME,
        "deletionGracePeriodSeconds": _INTEGER,
        "deletionTimestamp": _TIME,
        "finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": _STRING},
        "generateName": _STRING,
        "generation": _INTEGER,
        "labels": _STRINGS,
        "managedFields": {"type": "array", "x-kubernetes-list-type": "atomic", "items": _MANAGED},
        "name": _STRING,
        "namespace": _STRING,
        "ownerReferences": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
            "items": _OWNER,
        },
        "resourceVersion": _STRING,
        "selfLink": _STRING,
        "uid": _STRING,
    },
}


_HEAD: Object = {"apiVersion": _STRING, "kind": _STRING, "metadata": OBJECT_META}
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_SCALARS = {"integer": "numeric", "number": "numeric", "boolean": "boolean", "string": "string"}
# Any other format of a string is free: a time or an int-or-string is compared as it is written.
_STRING_FORMATS = (None, "", "byte")


def custom_type(schema: Object | None) -> Type:
    """Compile the schema of a version of a custom resource; without one everything is deduced."""
    if not schema:
        return DEDUCED
    root = {**schema, "properties": {**(schema.get("properties") or {}), **_HEAD}}
    return _Compiler({}).type_of(root, keep_unknown=False)


def builtin_type(schema: Object, definitions: Mapping[str, Object]) -> Type:
    """Compile the schema of a built-in kind, whose `$ref`s end in names of definitions."""
    return _Compiler(definitions).type_of(schema, keep_unknown=False)


class _Compiler:
    """Compiles one root; remembers named definitions, so that recursive ones end."""

    def __init__(self, definitions: Mapping[str, Object]) -> None:
        self._definitions = definitions
        self._named: dict[str, Type] = {}

    def type_of(self, schema: Object, keep_unknown: bool) -> Type:
        name = _reference(schema)
        if name:
            return _overridden(self._named_type(name), schema.get("x-kubernetes-map-type"))
        return self._fill(Type(), schema, keep_unknown)

    def _named_type(self, name: str) -> Type:
        type_ = self._named.get(name)
        if type_ is None:
            type_ = self._named[name] = Type()
            if name == _QUANTITY:
                type_.allow_scalar("untyped")
            elif name == _RAW_EXTENSION or name not in self._definitions:
                type_.allow_scalar("untyped")
                type_.list, type_.map = UNTYPED.list, UNTYPED.map
            else:
                self._fill(type_, self._definitions[name], keep_unknown=False)
        return type_

    def _fill(self, type_: Type, schema: Object, keep_unknown: bool) -> Type:
        keep_unknown = keep_unknown or schema.get("x-kubernetes-preserve-unknown-fields") is True
        kind = schema.get("type") or ""
        if kind in _SCALARS:
            plain = kind != "string" or schema.get("format") in _STRING_FORMATS
            type_.allow_scalar(_SCALARS[kind] if plain else "untyped")
            return type_
        if kind != "array":
            type_.map = self._map(schema, keep_unknown)
        if kind != "object":
            type_.list = self._list(schema, keep_unknown)
        if kind not in ("object", "array"):
            type_.allow_scalar("untyped")
        return type_

    def _map(self, schema: Object, keep_unknown: bool) -> MapType:
        members = schema.get("properties") or {}
        if schema.get("x-kubernetes-embedded-resource") is True:
            members = {**members, **_HEAD}
        # Metadata is a type of its own: it does not keep what the object around it keeps.
        fields = {
            name: self.type_of(member, keep_unknown and member is not OBJECT_META)
            for name, member in members.items()
        }
        element = self._element(schema, bool(members), keep_unknown)
        map_type = MapType(fields, element, schema.get("x-kubernetes-map-type") == "atomic")
        map_type.defaults = {
            name: member["default"] for name, member in members.items() if member.get("default") is not None
        }
        return map_type

    def _element(self, schema: Object, has_fields: bool, keep_unknown: bool) -> Type | None:
        others = schema.get("additionalProperties")
        if others is None:
            return DEDUCED if keep_unknown or not has_fields else None
        if isinstance(others, dict):
            return self.type_of(others, keep_unknown)
        return DEDUCED if others else None

    def _list(self, schema: Object, keep_unknown: bool) -> ListType:
        items = schema.get("items")
        element = self.type_of(items, keep_unknown) if isinstance(items, dict) else UNTYPED
        return ListType(element, *_relation(schema))


def _relation(schema: Object) -> tuple[bool, tuple[str, ...]]:
    """Return whether a list is atomic, and else its keys; the patch strategy decides for older types."""
    kind = schema.get("x-kubernetes-list-type")
    if kind is not None:
        keys = schema.get("x-kubernetes-list-map-keys") or () if kind == "map" else ()
        return kind not in ("set", "map"), tuple(keys)
    if schema.get("x-kubernetes-patch-strategy") in ("merge", "merge,retainKeys"):
        key = schema.get("x-kubernetes-patch-merge-key")
        return False, (key,) if key else ()
    return True, ()


def _reference(schema: Object) -> str:
    ref = schema.get("$ref")
    if not ref:
        alone: list[Any] = schema.get("allOf") or []
        ref = alone[0].get("$ref") if len(alone) == 1 else None
    return ref.rpartition("/")[2] if ref else ""


def _overridden(type_: Type, relation: str | None) -> Type:
    """Return the type as atomic or granular, as the referring field declares."""
    if relation is None or type_.map is None:
        return type_
    result = Type()
    result.allow_scalar(type_.scalar)
    result.list = type_.list
    result.map = MapType(type_.map.fields, type_.map.element, relation == "atomic")
    result.map.defaults = type_.map.defaults
    return result
