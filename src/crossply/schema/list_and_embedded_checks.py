"""The checks of `x-kubernetes-list-type` and `x-kubernetes-embedded-resource`.

No two items of a list that is a map or a set may be the same, and embedded objects must have a kind. An API
server checks this beside `validation`; Crossplane's `validate` leaves it out.
"""

from __future__ import annotations

from typing import Any

from crossply.schema.field_errors import DUPLICATE, INVALID, REQUIRED, FieldError
from crossply.schema.single_value_validation import identity
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
    repeated = []
    for index, value in enumerate(values):
        key = identity(value)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] == 2:
            repeated.append(index)
    return repeated


_EMBEDDED = "x-kubernetes-embedded-resource"


def check_embedded(value: Any, schema: Object | None, path: str = "") -> list[FieldError]:
    """Embedded objects must have an apiVersion and a kind."""
    if not isinstance(schema, dict):
        return []
    errors: list[FieldError] = []
    if isinstance(value, list):
        for index, item in enumerate(value):
            errors += check_embedded(item, schema.get("items"), f"{path}[{index}]")
    elif isinstance(value, dict):
        if schema.get(_EMBEDDED):
            missing = [key for key in ("apiVersion", "kind") if not value.get(key)]
            errors += [FieldError(REQUIRED, f"{path}.{key}", "", "") for key in missing]
        properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, member in value.items():
            errors += check_embedded(member, properties.get(name, others), f"{path}.{name}" if path else name)
    return errors
