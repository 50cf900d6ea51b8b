"""What a schema may not contain if Kubernetes is to work with its structure."""

from __future__ import annotations

from typing import Any

from crossply.values import Object

_NOT_SUPPORTED = (
    "id",
    "$schema",
    "$ref",
    "additionalItems",
    "definitions",
    "dependencies",
    "patternProperties",
)
_SHOWN = {"$schema": "schema", "$ref": "$ref"}


def structural_problem(schema: Object) -> str | None:
    """Return why a schema has no structure that values can be defaulted and pruned by, or None."""
    for key in _NOT_SUPPORTED:
        if schema.get(key):
            return f"OpenAPIV3Schema '{_SHOWN.get(key, key)}' is not supported"
    if isinstance(schema.get("items"), list):
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return next((problem for below in _below(schema) if (problem := structural_problem(below))), None)


def _below(schema: Object) -> list[Any]:
    found = [schema.get(key) for key in ("items", "additionalProperties", "not")]
    for key in ("allOf", "anyOf", "oneOf"):
        found += schema.get(key) or []
    found += (schema.get("properties") or {}).values()
    return [each for each in found if isinstance(each, dict)]
