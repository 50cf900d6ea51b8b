"""Which fields a configuration owns: every leaf and every item that it mentions.

The walks here and in `compare` read lists by identity, so the values must have been checked (`validate`).
"""

from __future__ import annotations

from typing import Any

from crossply.apply.field_sets import FIELD, FieldSet, with_self
from crossply.apply.path_elements import known_elements
from crossply.apply.schema_types import ListType, MapType, Type


def owned_fields(value: Any, type_: Type) -> FieldSet:
    """Return the fields that applying an object claims."""
    if value.__class__ is dict and type_.map is not None and not type_.map.atomic:
        return _members(value, type_.map)
    return {}


def _members(value: dict[str, Any], map_type: MapType) -> FieldSet:
    result: FieldSet = {}
    fields, element = map_type.fields, map_type.element
    for name, member in value.items():
        kind = member.__class__
        if kind is not dict and kind is not list:
            result["f:" + name] = FIELD
            continue
        type_ = fields.get(name)
        if type_ is None:
            # A key of a map is itself owned, a field of a struct only through what is in it.
            result["f:" + name] = with_self(_below(member, element))
        elif kind is dict and not member:
            result["f:" + name] = FIELD
        elif (node := _node(member, type_)) is not None:
            result["f:" + name] = node
    return result


def _node(value: Any, type_: Type) -> FieldSet | None:
    """Return what a container in a struct adds to a set: itself when it is one value, else what is below."""
    if value.__class__ is dict:
        if type_.map is None or type_.map.atomic:
            return FIELD
        return _members(value, type_.map) or None
    if type_.list is None or type_.list.atomic:
        return FIELD
    return _items(value, type_.list) or None


def _below(value: Any, type_: Type | None) -> FieldSet:
    return (_node(value, type_) or FIELD) if type_ is not None else FIELD


def _items(value: list[Any], list_type: ListType) -> FieldSet:
    elements = known_elements(list_type, value)
    result: FieldSet = {}
    item_type = list_type.element
    for element, item in zip(elements, value, strict=True):
        if element in result:
            # Items that are there twice are owned as a whole.
            result[element] = FIELD
        elif not element:
            continue
        elif item.__class__ is dict and item_type.map is not None and not item_type.map.atomic:
            result[element] = with_self(_members(item, item_type.map))
        else:
            result[element] = FIELD
    return result


def with_named_fields(fields: FieldSet, type_: Type | None) -> FieldSet:
    """Return a set that also has each field of a struct below which it has something."""
    map_type = type_.map if type_ is not None else None
    list_type = type_.list if type_ is not None else None
    result: FieldSet = {}
    for element, node in fields.items():
        if not node:
            result[element] = node
            continue
        deeper: Type | None = None
        named = False
        if element[0] == "f" and map_type is not None:
            deeper = map_type.fields.get(element[2:])
            named = deeper is not None
            deeper = deeper or map_type.element
        elif element[0] == "k" and list_type is not None:
            deeper = list_type.element
        inner = with_named_fields(node, deeper)
        result[element] = with_self(inner) if named else inner
    return result
