"""What Go's strict decoder reports of a built-in kind: values of wrong types, and unknown fields."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from crossply.apiserver.apiextensions.crd_without_schemas import without_plain_schemas
from crossply.apiserver.builtin.go_scalars import LEAVES
from crossply.apiserver.builtin.kind_schema_table import definitions, names_by_kind
from crossply.apiserver.served_resources import Resource
from crossply.schema.builtin_go_types import type_of_kind
from crossply.schema.fast_go_type_check import Check, struct
from crossply.schema.go_decode_errors import type_problem
from crossply.values import Object

_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_DEFINITION = "CustomResourceDefinition"
_NAMES = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}


def decode_problem(resource: Resource, version: str, obj: Object) -> str | None:
    """The error for a value of a wrong type, or None if the object can be decoded."""
    kind = resource.names.kind
    go_type = type_of_kind(resource.api_version(version), kind)
    obj = _without_right_parts(resource, obj)
    if go_type is None and kind == _DEFINITION:
        go_type = "v1.CustomResourceDefinition"
    problem = None if go_type is None else type_problem(obj, go_type)
    if problem is not None:
        return problem
    # Kinds of the aggregator and newer fields have no known Go type: their schema is used instead.
    definition = names_by_kind()[resource.group, version, kind]
    if _check_of_definition(definition)(obj):
        return None
    return _mismatch(obj, {"$ref": definition}, kind, "")


@functools.cache
def _check_of_definition(name: str) -> Check:
    return _check_of(definitions()[name])


def _check_of(schema: Object) -> Check:
    """A function that says whether `_mismatch` would find nothing: quick, as it is asked of every object."""
    name = schema.get("$ref")
    if name is not None:
        return _is_any if name in LEAVES else lambda value: _check_of_definition(name)(value)
    kind = schema.get("type", "")
    types = _PYTHON.get(kind)
    members = _members_check(schema)
    items = _items_check(schema.get("items") or {})

    def fits(value: Any) -> bool:
        if types is not None and value.__class__ not in types and not _is_of(value, kind, types):
            return False
        if value.__class__ is dict:
            return members(value)
        return items(value) if value.__class__ is list else True

    return fits


def _members_check(schema: Object) -> Check:
    fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
    fields = {name: field for name, field in fields.items() if field}
    check_fields = struct(fields, _check_of)
    if not others:
        return check_fields
    check_other = _check_of(others)

    def fits(value: Any) -> bool:
        if not check_fields(value):
            return False
        return all(member is None or key in fields or check_other(member) for key, member in value.items())

    return fits


def _items_check(schema: Object) -> Check:
    if not schema:
        return _is_any
    check = _check_of(schema)
    return lambda value: all(item is None or check(item) for item in value)


def _is_any(value: Any) -> bool:
    return True


def _mismatch(value: Any, schema: Object, struct: str, path: str) -> str | None:
    if value is None or schema.get("$ref") in LEAVES:
        return None
    inner = struct
    if "$ref" in schema:
        inner = schema["$ref"].rpartition(".")[2]
        schema = definitions()[schema["$ref"]]
    kind = schema.get("type", "")
    types = _PYTHON.get(kind)
    if types and not _is_of(value, kind, types):
        actual = _NAMES.get(type(value), "object")
        return f"json: cannot unmarshal {actual} into Go struct field {struct}.{path} of type {kind}"
    if isinstance(value, dict):
        fields = schema.get("properties") or {}
        others = schema.get("additionalProperties")
        below = ((key, member, fields.get(key) or others) for key, member in value.items())
        checked = (
            _mismatch(member, at, inner, f"{path}.{key}".lstrip(".")) for key, member, at in below if at
        )
    elif isinstance(value, list):
        checked = (_mismatch(item, schema.get("items") or {}, inner, path) for item in value)
    else:
        return None
    return next((problem for problem in checked if problem), None)


def _is_of(value: Any, kind: str, types: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()  # 1.0 is read as 1
    return isinstance(value, types)


_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_SCHEMA_OR = {f"{_EXTENSIONS}.JSONSchemaPropsOr{other}" for other in ("Array", "Bool", "StringArray")}
"""`items` and `additionalProperties`: their Go types ignore unknown fields."""


def unknown_fields(resource: Resource, version: str, obj: Object) -> list[str]:
    name = names_by_kind()[resource.group, version, resource.names.kind]
    return list(_unknown(_without_right_parts(resource, obj), {"$ref": name}, ""))


def _without_right_parts(resource: Resource, obj: Object) -> Object:
    """The object without what is known to be right: most of a definition are its schemas."""
    return without_plain_schemas(obj) if resource.names.kind == _DEFINITION else obj


def _unknown(value: Any, schema: Object, path: str) -> Iterator[str]:
    ref = schema.get("$ref")
    if ref in _SCHEMA_OR:
        return
    if ref:
        schema = definitions()[ref]
    if isinstance(value, dict):
        yield from _unknown_members(value, schema, path)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _unknown(item, schema["items"], f"{path}[{index}]")


def _unknown_members(value: Object, schema: Object, path: str) -> Iterator[str]:
    fields, others = schema.get("properties"), schema.get("additionalProperties")
    if not fields and others is None:
        return
    for key, member in value.items():
        at = f"{path}.{key}" if path else key
        below = others if fields is None else fields.get(key)
        if below is None:
            yield at
        else:
            yield from _unknown(member, below, at)
