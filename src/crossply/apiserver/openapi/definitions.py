"""Schemas as they are published: built-in kinds by reference, custom kinds with what every object has."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from crossply.apiserver.builtin.resource_table import definitions as built_in
from crossply.apiserver.builtin.resource_table import names_by_kind
from crossply.apiserver.openapi.descriptions import API_VERSION, KIND, METADATA, described_metadata
from crossply.apiserver.registry.resources import Resource, Version
from crossply.values import Object

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
SCALE = "io.k8s.api.autoscaling.v1.Scale"
PREFIX = "#/components/schemas/"

_TEXT: Object = {"type": "string"}
_EITHER: list[Object] = [{"type": "integer"}, {"type": "string"}]


def definition_name(resource: Resource, version: Version) -> str:
    """The name of a kind's definition: that of the Go type, or the group turned around."""
    known = names_by_kind().get((resource.group, version.name, resource.names.kind))
    if known and not resource.custom:
        return known
    return ".".join([*reversed(resource.group.split(".")), version.name, resource.names.kind])


def reference(name: str) -> Object:
    """A schema that is another one."""
    return {"$ref": PREFIX + name}


@functools.cache
def published(name: str) -> Object:
    """A built-in definition with references of the published form."""
    made = _published(built_in()[name])
    return described_metadata(made) if name == f"{META}.ObjectMeta" else made


def _published(schema: Object) -> Object:
    result: Object = {}
    for key, value in schema.items():
        if key == "$ref":
            result.update({"allOf": [reference(value)]} if len(schema) > 1 else reference(value))
        elif key == "properties":
            result[key] = {name: _published(each) for name, each in value.items()}
        elif key in ("items", "additionalProperties"):
            result[key] = _published(value)
        else:
            result[key] = value
    return result


def with_parts(names: Iterable[str]) -> dict[str, Object]:
    """Built-in definitions and all that they refer to."""
    found: dict[str, Object] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found and name in built_in():
            found[name] = published(name)
            waiting += _references(built_in()[name])
    return found


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for each in schema for name in _references(each)]
    if not isinstance(schema, dict):
        return []
    below = [name for value in schema.values() for name in _references(value)]
    target = schema.get("$ref")
    return [*below, target] if isinstance(target, str) else below


def custom_kind(resource: Resource, version: Version) -> Object:
    """The schema of a custom resource, with the fields that every object has."""
    schema = _embedded(dict(version.schema or {"x-kubernetes-preserve-unknown-fields": True}))
    schema["type"] = "object"
    schema["properties"] = {**(schema.get("properties") or {}), **_head()}
    return {**schema, "x-kubernetes-group-version-kind": [group_version_kind(resource, version)]}


def _head() -> Object:
    """The fields that every object has."""
    return {
        "apiVersion": {**_TEXT, "description": API_VERSION},
        "kind": {**_TEXT, "description": KIND},
        "metadata": {"description": METADATA, "allOf": [reference(f"{META}.ObjectMeta")]},
    }


def _embedded(schema: Object) -> Object:
    """Tell what extensions of a structural schema mean in its own words, all the way down."""
    result = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = _embedded(result[key])
    if isinstance(result.get("properties"), dict):
        result["properties"] = {name: _embedded(each) for name, each in result["properties"].items()}
    if result.get("x-kubernetes-int-or-string"):
        result.setdefault("anyOf", _EITHER)
    if result.get("x-kubernetes-embedded-resource"):
        result["properties"] = {**(result.get("properties") or {}), **_head()}
        needed = [*(result.get("required") or ()), "kind", "apiVersion"]
        result["required"] = list(dict.fromkeys(needed))
    return result


def list_kind(resource: Resource, version: Version) -> Object:
    """The schema of a list of custom resources."""
    kind = {**group_version_kind(resource, version), "kind": resource.names.list_kind}
    return {
        "description": f"{resource.names.list_kind} is a list of {resource.names.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": _TEXT,
            "items": {"type": "array", "items": reference(definition_name(resource, version))},
            "kind": _TEXT,
            "metadata": {"allOf": [reference(f"{META}.ListMeta")]},
        },
        "x-kubernetes-group-version-kind": [kind],
    }


def group_version_kind(resource: Resource, version: Version) -> Object:
    """What a kind is called in the extension that clients look for."""
    return {"group": resource.group, "kind": resource.names.kind, "version": version.name}
