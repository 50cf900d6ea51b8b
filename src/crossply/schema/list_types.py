"""Lists that are maps or sets: no two items may have the same keys, or be the same.

An API server checks `x-kubernetes-list-type` beside `validation`; Crossplane's `validate` leaves it out.
"""

from __future__ import annotations

from typing import Any

from crossply.schema.field_errors import DUPLICATE, INVALID, FieldError
from crossply.schema.validation_leaves import identity
from crossply.values import Object


def check_list_types(value: Any, schema: Object, path: str = "") -> list[FieldError]:
    """Return the duplicates in lists of type set and map, wherever they are in a value."""
    if isinstance(value, dict):
        return _members(value, schema, path)
    if isinstance(value, list):
        return _check_list(value, schema, path)
    return []


def _members(value: Object, schema: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    others, properties = schema.get("additionalProperties"), schema.get("properties") or {}
    for name in sorted(value):
        if isinstance(others, dict):
            errors += check_list_types(value[name], others, f"{path}[{name}]")
        if name in properties:
            errors += check_list_types(value[name], properties[name], f"{path}.{name}" if path else name)
    return errors


def _check_list(value: list[Any], schema: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if schema.get("x-kubernetes-list-type") == "set":
        errors = [FieldError(DUPLICATE, f"{path}[{i}]", value[i], "") for i in _repeated(value)]
    elif schema.get("x-kubernetes-list-type") == "map":
        errors = _check_map(value, schema.get("x-kubernetes-list-map-keys") or [], path)
    if isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            errors += check_list_types(item, schema["items"], f"{path}[{index}]")
    return errors


def _check_map(value: list[Any], names: list[str], path: str) -> list[FieldError]:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            wrong = "must be an object for an array of list-type map"
            return [FieldError(INVALID, f"{path}[{index}]", item, wrong)]
    keys = [{name: item[name] for name in names if name in item} if item else {} for item in value]
    return [FieldError(DUPLICATE, f"{path}[{i}]", keys[i], "") for i in _repeated(keys)]


def _repeated(values: list[Any]) -> list[int]:
    """Return where each repeated value appears for the second time."""
    counts: dict[Any, int] = {}
    found = []
    for index, value in enumerate(values):
        key = identity(value)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] == 2:
            found.append(index)
    return found
