"""Structural schemas of the built-in kinds: definitions with their references resolved.

Definitions that many kinds use (a Pod template, ObjectMeta) are the same dict in all of them, so the whole
set costs as much as the definitions alone. A recursive definition is open where it recurs.
"""

from __future__ import annotations

from typing import Any

from crossply.apiserver.builtin.resource_table import definitions
from crossply.values import Object

_OPEN: Object = {"x-kubernetes-preserve-unknown-fields": True}
_OPEN_OBJECT: Object = {"type": "object", **_OPEN}
_NUMBER_OR_TEXT: Object = {"x-kubernetes-int-or-string": True}

# These have a JSON form of their own: their schema says less than their Go code does.
_LEAVES: dict[str, Object] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": _NUMBER_OR_TEXT,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": _NUMBER_OR_TEXT,
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": _OPEN_OBJECT,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": _OPEN_OBJECT,
}
_DROPPED = (
    "$ref",
    "required",
    "default",
    "enum",
    "oneOf",
    "x-kubernetes-group-version-kind",
    "x-kubernetes-unions",
)

_expanded: dict[str, Object] = {}


def structural(name: str) -> Object:
    """The schema of a definition, for pruning and for finding unknown fields.

    It requires nothing and has no defaults: `strategies` and `defaults` do that for built-in kinds.
    """
    schema = _expanded.get(name)
    if schema is None:
        _expanded[name] = _OPEN  # what a definition sees of itself while it is being expanded
        schema = _expanded[name] = _LEAVES.get(name) or _expand(definitions()[name]) or _OPEN
    return schema


def _expand(schema: Object) -> Object:
    if "$ref" in schema:
        below = structural(schema["$ref"])
        relation = {key: schema[key] for key in ("x-kubernetes-map-type",) if key in schema}
        return {**below, **relation} if relation else below
    result: dict[str, Any] = {key: value for key, value in schema.items() if key not in _DROPPED}
    for key in ("items", "additionalProperties"):
        if key in schema:
            result[key] = _expand(schema[key])
    if "properties" in schema:
        result["properties"] = {name: _expand(member) for name, member in schema["properties"].items()}
    if result == {"type": "object"}:
        return _OPEN_OBJECT
    return result
