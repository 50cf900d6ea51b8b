"""Read fieldsV1, the stored form of a field set.

Field sets are kept in that very form, so what this product wrote is taken as it is. Others may spell an
element differently (`k:{"name": "x"}`) or leave marks where they say nothing; that is put right here.
"""

from __future__ import annotations

from typing import Any

from crossply.apply.elements import BadElement, canonical
from crossply.apply.errors import BadManagedFields
from crossply.apply.field_sets import FIELD, SELF, FieldSet, union, with_self


def decode_fields(fields: Any) -> FieldSet:
    """Read a set; raise BadManagedFields when it is not one."""
    if fields is None:
        return {}
    try:
        decoded = _decoded(fields)
    except BadElement as error:
        raise BadManagedFields(f"error decoding set: parsing key as path element: {error}") from None
    # Nobody owns the object as a whole.
    return {key: decoded[key] for key in decoded if key != SELF} if SELF in decoded else decoded


def _decoded(fields: Any) -> FieldSet:
    if fields.__class__ is not dict:
        if fields is None:
            return FIELD
        raise BadManagedFields("error decoding set: ReadMapCB: expect { or n")
    for element, node in fields.items():
        if (node or node.__class__ is not dict) and _decoded(node) is not node:
            return _rewritten(fields)
        if element[:2] != "f:" and not _is_written_well(element, node, fields):
            return _rewritten(fields)
    return fields


def _is_written_well(element: str, node: FieldSet, fields: FieldSet) -> bool:
    if element == SELF:
        return not node and len(fields) > 1
    return canonical(element) == element


def _rewritten(fields: FieldSet) -> FieldSet:
    result: FieldSet = {}
    for element, node in fields.items():
        spelled = canonical(element) if element != SELF else ""
        if spelled:
            result = union(result, {spelled: _decoded(node)})
    return with_self(result) if SELF in fields else result
