"""Take fields out of an object.

A container that loses its last member does not stay empty, it becomes null: that is what an API server
stores, and what its validation then judges.
"""

from __future__ import annotations

from typing import Any

from crossply.apply.elements import known_elements
from crossply.apply.field_sets import FieldSet, is_member
from crossply.apply.types import LIST, MAP, ListType, MapType, Type, form_of


def remove(value: Any, fields: FieldSet, type_: Type | None) -> Any:
    """Return a value without some fields, each with everything below it."""
    if not fields or type_ is None:
        return value
    form, _ = form_of(type_, value)
    if form == MAP and type_.map is not None:
        return _members(value, fields, type_.map)
    if form == LIST and type_.list is not None:
        return _items(value, fields, type_.list)
    return value


def _members(value: Any, fields: FieldSet, map_type: MapType) -> Any:
    if value.__class__ is not dict or not value or map_type.atomic:
        return None
    result = value
    for element, node in fields.items():
        name = element[2:]
        if element[0] != "f" or name not in value:
            continue
        if is_member(node):
            result = result.copy() if result is value else result
            del result[name]
            continue
        left = remove(value[name], node, map_type.fields.get(name, map_type.element))
        if left is not value[name]:
            result = result.copy() if result is value else result
            result[name] = left
    return result or None


def _items(value: Any, fields: FieldSet, list_type: ListType) -> Any:
    if value.__class__ is not list or not value or list_type.atomic:
        return None
    result = []
    changed = False
    for element, item in zip(known_elements(list_type, value), value, strict=True):
        node = fields.get(element)
        if node is None:
            result.append(item)
            continue
        changed = True
        if not is_member(node):
            result.append(remove(item, node, list_type.element))
    return (result or None) if changed else value
