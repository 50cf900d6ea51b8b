"""Published schemas: built-in kinds by reference, custom kinds with the fields of every object."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from crossply.apiserver.builtin.kind_schema_table import definitions as built_in
from crossply.apiserver.builtin.kind_schema_table import names_by_kind
from crossply.apiserver.served_resources import Resource, Version
from crossply.values import Object

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
SCALE = "io.k8s.api.autoscaling.v1.Scale"
PREFIX = "#/components/schemas/"

_TEXT: Object = {"type": "string"}
_EITHER: list[Object] = [{"type": "integer"}, {"type": "string"}]


def definition_name(resource: Resource, version: Version) -> str:
    """The name of a kind's definition: that of the Go type, or the reversed group."""
    known = names_by_kind().get((resource.group, version.name, resource.names.kind))
    if known and not resource.custom:
        return known
    return ".".join([*reversed(resource.group.split(".")), version.name, resource.names.kind])


def reference(name: str) -> Object:
    return {"$ref": PREFIX + name}


@functools.cache
def published(name: str) -> Object:
    """A built-in definition with published references."""
    schema = _published(built_in()[name])
    return described_metadata(schema) if name == f"{META}.ObjectMeta" else schema


def _published(schema: Object) -> Object:
    result: Object = {}
    for key, value in schema.items():
        if key == "$ref":
            result.update({"allOf": [reference(value)]} if len(schema) > 1 else reference(value))
        elif key == "properties":
            result[key] = {name: _published(member) for name, member in value.items()}
        elif key in ("items", "additionalProperties"):
            result[key] = _published(value)
        else:
            result[key] = value
    return result


def with_parts(names: Iterable[str]) -> dict[str, Object]:
    """Definitions and all that they refer to."""
    definitions: dict[str, Object] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in definitions and name in built_in():
            definitions[name] = published(name)
            waiting += _references(built_in()[name])
    return definitions


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in _references(item)]
    if not isinstance(schema, dict):
        return []
    below = [name for value in schema.values() for name in _references(value)]
    target = schema.get("$ref")
    return [*below, target] if isinstance(target, str) else below


def custom_kind(resource: Resource, version: Version) -> Object:
    """The schema of a custom resource, with the fields of every object."""
    schema = _embedded(dict(version.read_schema() or {"x-kubernetes-preserve-unknown-fields": True}))
    schema["type"] = "object"
    schema["properties"] = {**(schema.get("properties") or {}), **_head()}
    return {**schema, "x-kubernetes-group-version-kind": [group_version_kind(resource, version)]}


def _head() -> Object:
    return {
        "apiVersion": {**_TEXT, "description": API_VERSION},
        "kind": {**_TEXT, "description": KIND},
        "metadata": {"description": METADATA, "allOf": [reference(f"{META}.ObjectMeta")]},
    }


def _embedded(schema: Object) -> Object:
    """Replace the extensions of a structural schema by their OpenAPI equivalents, at any depth."""
    result = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = _embedded(result[key])
    if isinstance(result.get("properties"), dict):
        result["properties"] = {name: _embedded(member) for name, member in result["properties"].items()}
    if result.get("x-kubernetes-int-or-string"):
        result.setdefault("anyOf", _EITHER)
    if result.get("x-kubernetes-embedded-resource"):
        result["properties"] = {**(result.get("properties") or {}), **_head()}
        needed = [*(result.get("required") or ()), "kind", "apiVersion"]
        result["required"] = list(dict.fromkeys(needed))
    return result


def list_kind(resource: Resource, version: Version) -> Object:
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
    """The x-kubernetes-group-version-kind extension."""
    return {"group": resource.group, "kind": resource.names.kind, "version": version.name}


API_VERSION = "APIVersion defines which version of its group this object is written in, such as apps/v1."
KIND = "Kind names the type of this object, such as ConfigMap. It cannot be changed."
METADATA = "Standard object's metadata: its name, its labels, and what the server keeps about it."

_OBJECT_META = {
    "annotations": "Annotations are texts that tools keep with the object. Nothing is selected by them.",
    "creationTimestamp": "CreationTimestamp is a timestamp of when the server made the object.",
    "deletionGracePeriodSeconds": "How long the object may take to end once its deletion was asked for.",
    "deletionTimestamp": "DeletionTimestamp is a timestamp of when the deletion of the object was asked for. "
    "The object stays until its finalizers are gone.",
    "finalizers": "Who still has something to do before a deleted object may go.",
    "generateName": "The beginning of a name that the server completes, for an object made without a name.",
    "generation": "How often what the object wishes for has changed.",
    "labels": "Labels are short texts by which objects are selected.",
    "managedFields": "Which manager wrote which field, for server-side apply.",
    "name": "The name of the object. It is the only one of its kind with it in its namespace, and keeps it.",
    "namespace": "The namespace the object is in; empty for kinds that are in none.",
    "ownerReferences": "The objects this one depends on. When all of them are gone, it is deleted.",
    "resourceVersion": "The version of the object, as the server counts. It changes with every write.",
    "selfLink": "Not used any more.",
    "uid": "What tells the object from others of the same name, earlier and later.",
}


def described_metadata(schema: Object) -> Object:
    """The schema of metadata with a description of each field."""
    fields = {
        name: _described(field, _OBJECT_META.get(name, "")) for name, field in schema["properties"].items()
    }
    return {"description": METADATA, **schema, "properties": fields}


def _described(field: Object, text: str) -> Object:
    # Siblings of a $ref are ignored, so the reference is wrapped.
    described = {"allOf": [field]} if "$ref" in field else field
    return {"description": text, **described} if text else field
