"""Fill in the defaults that a structural schema declares.

The first thing that happens to an object after it was read: `render --xrd`, `validate` and the API server
all default before they look at anything else. Kept free of imports beyond the copy, `render` starts with it.
"""

from __future__ import annotations

from typing import Any

from crossply.values import Object
from crossply.values.deepcopy import deepcopy


def apply_defaults(value: Any, schema: Object) -> Any:
    """Return a copy of a value with the schema's defaults filled in.

    A default applies where its parent exists and the field is absent, or is null without being nullable;
    the filled-in default is itself defaulted.
    """
    result = deepcopy(value)
    _fill(result, schema)
    return result


def without_unwanted_nulls(value: Any, schema: Object | None) -> Any:
    """A value without the nulls of fields that are not nullable: after defaulting, they mean nothing."""
    if not schema:
        return value
    if isinstance(value, list):
        return [without_unwanted_nulls(item, schema.get("items")) for item in value]
    if not isinstance(value, dict):
        return value
    properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
    members: Object = {}
    for name, member in value.items():
        member_schema = properties.get(name, others)
        known = member_schema if isinstance(member_schema, dict) else None
        if known is None or not is_unwanted_null(member, known):
            members[name] = without_unwanted_nulls(member, known)
    return members


def _fill(value: Any, schema: Object | None) -> None:
    if not schema:
        return
    if isinstance(value, dict):
        _fill_properties(value, schema.get("properties") or {})
        _fill_members(value, schema)
    elif isinstance(value, list):
        _fill_items(value, schema.get("items"))


def _fill_properties(value: Object, properties: Object) -> None:
    for name, schema in properties.items():
        default = schema.get("default") if schema else None
        if default is not None and (name not in value or is_unwanted_null(value[name], schema)):
            value[name] = deepcopy(default)


def _fill_members(value: Object, schema: Object) -> None:
    properties = schema.get("properties") or {}
    others = schema.get("additionalProperties")
    other_schema = others if isinstance(others, dict) else None
    for name in value:
        if name in properties:
            _fill(value[name], properties[name])
        elif other_schema is not None:
            if is_unwanted_null(value[name], other_schema):
                value[name] = deepcopy(other_schema.get("default"))
            _fill(value[name], other_schema)


def _fill_items(value: list[Any], schema: Object | None) -> None:
    if schema is None:
        return
    for index, item in enumerate(value):
        if is_unwanted_null(item, schema):
            value[index] = deepcopy(schema.get("default"))
        _fill(value[index], schema)


def is_unwanted_null(value: Any, schema: Object) -> bool:
    """Whether a null stands where a schema does not allow one."""
    return value is None and not schema.get("nullable")
