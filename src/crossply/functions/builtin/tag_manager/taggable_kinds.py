"""Which composed resources support tags.

The schema of a kind decides, and the function requires it. Without schemas, as in a render, a list decides:
`taggable_kinds.json` has the kinds of the large cloud providers whose `spec.forProvider` has tags.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

from crossply.compose.function_messages import Request, Requirements, SchemaSelector
from crossply.values import Object

IGNORE = "tag-manager.fn.crossplane.io/ignore-resource"
"""The annotation or label of resources that are not changed."""

_NAMESPACED, _CLUSTER_SCOPED = ".m.upbound.io", ".upbound.io"
_SCHEMAS = 5
"""The capability of engines that send schemas."""


def is_ignored(obj: Object) -> bool:
    """Whether a resource must not be changed; the annotation overrides the label."""
    metadata = _object(obj.get("metadata"))
    for path in ("annotations", "labels"):
        value = _object(metadata.get(path)).get(IGNORE)
        if isinstance(value, str):
            return value.lower() == "true"
    return False


def has_tags(obj: Object, request: Request) -> bool:
    schema = request.required_schemas.get(_schema_name(obj))
    if schema:
        return "tags" in _properties(_properties(_properties(schema).get("spec")).get("forProvider"))
    return _is_taggable_kind(obj)


def required_schemas(request: Request) -> Requirements | None:
    """Requirements for the schemas of desired managed resources, if the engine sends schemas."""
    if _SCHEMAS not in request.capabilities:
        return None
    schemas = {}
    for resource in request.desired.resources.values():
        obj = resource.object
        if "forProvider" in _object(obj.get("spec")) and _schema_name(obj):
            schemas[_schema_name(obj)] = SchemaSelector(obj["apiVersion"], obj["kind"])
    return Requirements(schemas=schemas) if schemas else None


def _schema_name(obj: Object) -> str:
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    return f"{api_version}/{kind}" if isinstance(api_version, str) and isinstance(kind, str) else ""


def _is_taggable_kind(obj: Object) -> bool:
    """Whether a kind of the large cloud providers supports tags, in its cluster or its namespaced form."""
    group = str(obj.get("apiVersion")).partition("/")[0].replace(_NAMESPACED, _CLUSTER_SCOPED)
    for provider, services in _taggable_kinds().items():
        if group == provider or group.endswith(f".{provider}"):
            return obj.get("kind") in services.get(group.removesuffix(provider).rstrip("."), ())
    return False


@cache
def _taggable_kinds() -> dict[str, dict[str, list[str]]]:
    """Kinds with tags by provider and service; the service is empty for the group of the provider itself."""
    with open(os.path.join(os.path.dirname(__file__), "taggable_kinds.json"), encoding="utf-8") as file:
        kinds: dict[str, dict[str, list[str]]] = json.load(file)
    return kinds


def _properties(schema: Any) -> Object:
    return _object(_object(schema).get("properties"))


def _object(value: Any) -> Object:
    return value if isinstance(value, dict) else {}
