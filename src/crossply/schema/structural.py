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
    kept = {key: value for key, value in schema.items() if value is not None}
    for key in ("items", "additionalProperties", "not"):
        if isinstance(kept.get(key), dict):
            kept[key] = normalized(kept[key])
    for key in ("allOf", "anyOf", "oneOf"):
        if key in kept:
            kept[key] = [normalized(each or {}) for each in kept[key]]
    if "properties" in kept:
        kept["properties"] = {name: normalized(each or {}) for name, each in kept["properties"].items()}
    return kept


def _below(schema: Object) -> list[Any]:
    found = [schema.get(key) for key in ("items", "additionalProperties", "not")]
    for key in ("allOf", "anyOf", "oneOf"):
        found += schema.get(key) or []
    found += (schema.get("properties") or {}).values()
    return [each for each in found if isinstance(each, dict)]
