"""Follow a schema that changed since ownership was recorded.

A list or map that became atomic is owned as a whole by everyone who owned a part of it. The other way round
nothing can be known: who owned the whole keeps owning the whole.
"""

from __future__ import annotations

from crossply.apply.field_sets import FIELD, SELF, FieldSet
from crossply.apply.types import UNTYPED, MapType, Type


def reconciled(fields: FieldSet, type_: Type) -> FieldSet:
    """Return a stored set as the schema of today would record it; the same set when nothing changed."""
    if type_.map is None or type_.map.atomic:
        return fields
    return _below(fields, type_)


def _below(fields: FieldSet, type_: Type) -> FieldSet:
    """Return what is below a field, with parts of atomic values replaced by the whole."""
    result = fields
    for element, node in fields.items():
        # A field without parts needs nothing, and most fields are of this kind.
        if not node or element == SELF:
            continue
        deeper = _deeper(type_, element)
        if deeper is None:
            continue
        changed = _node(node, deeper)
        if changed is not node:
            result = result.copy() if result is fields else result
            result[element] = changed
    return result


def _node(node: FieldSet, type_: Type) -> FieldSet:
    if type_.map is not None:
        if _is_free(type_.map):
            return node
        return FIELD if type_.map.atomic else _below(node, type_)
    if type_.scalar or type_.list is None:
        return node
    return FIELD if type_.list.atomic else _below(node, type_)


def _deeper(type_: Type, element: str) -> Type | None:
    if type_.map is not None:
        return (
            type_.map.fields.get(element[2:], type_.map.element) if element[0] == "f" else type_.map.element
        )
    return type_.list.element if type_.list is not None else None


def _is_free(map_type: MapType) -> bool:
    """Tell whether a map is only deduced: its values, not the schema, say what is atomic."""
    if map_type.fields or map_type.element is None or map_type.element is UNTYPED:
        return False
    return map_type.element.scalar == "untyped"
