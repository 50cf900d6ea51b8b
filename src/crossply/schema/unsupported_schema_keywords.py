"""Schemas as Kubernetes reads them, and what they may not contain if it is to work with their structure."""

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


def normalized(schema: Object) -> Object:
    """Return a schema as Go reads it: a null keyword is absent, a null schema allows everything."""
    result = {key: value for key, value in schema.items() if value is not None}
    for key in ("items", "additionalProperties", "not"):
        if isinstance(result.get(key), dict):
            result[key] = normalized(result[key])
    for key in ("allOf", "anyOf", "oneOf"):
        if key in result:
            result[key] = [normalized(child or {}) for child in result[key]]
    if "properties" in result:
        result["properties"] = {name: normalized(child or {}) for name, child in result["properties"].items()}
    return result


def _below(schema: Object) -> list[Any]:
    schemas = [schema.get(key) for key in ("items", "additionalProperties", "not")]
    for key in ("allOf", "anyOf", "oneOf"):
        schemas += schema.get(key) or []
    schemas += (schema.get("properties") or {}).values()
    return [child for child in schemas if isinstance(child, dict)]
