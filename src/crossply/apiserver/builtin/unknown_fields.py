"""Finds fields that a built-in kind does not have, in the order in which they were written.

References are followed everywhere, even into the recursive schemas of a CustomResourceDefinition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.apiserver.builtin.resource_table import definitions, names_by_kind
from crossply.apiserver.registry.resources import Resource
from crossply.values import Object

_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_SCHEMA_OR = {f"{_EXTENSIONS}.JSONSchemaPropsOr{other}" for other in ("Array", "Bool", "StringArray")}
"""`items` and `additionalProperties`: their Go types ignore unknown fields."""


def unknown_fields(resource: Resource, version: str, obj: Object) -> list[str]:
    name = names_by_kind()[resource.group, version, resource.names.kind]
    return list(_unknown(obj, {"$ref": name}, ""))


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
