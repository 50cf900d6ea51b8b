"""Sets of fields: nested dicts in the very form in which an object stores them (fieldsV1).

A key is an element of a path (see `path_elements`). Its value is empty for a field of the set, holds deeper
fields, or holds deeper fields and the mark `.` when the field itself is in the set too. So reading and
writing `managedFields` costs nothing, and two sets compare with `==`. The whole set `{}` is empty, while a
nested `{}` is a field: functions on whole sets take care of the difference. Sets are never changed, they
share parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.apply.errors import BadManagedFields
from crossply.apply.path_elements import BadElement, canonical, described, order

FieldSet = dict[str, Any]
SELF = "."
FIELD: FieldSet = {}

Path = tuple[str, ...]


def is_member(node: FieldSet) -> bool:
    """Return whether the field that a nested node stands for is itself in the set."""
    return not node or SELF in node


def with_self(children: FieldSet) -> FieldSet:
    """Return a node for a field that is in the set, with deeper fields (or none)."""
    return {SELF: FIELD, **children} if children else FIELD


def union(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return the fields that are in either set."""
    if not first or first is second:
        return second
    if not second:
        return first
    return _joined(first, second)


def _joined(first: FieldSet, second: FieldSet) -> FieldSet:
    result = first.copy()
    for element, node in second.items():
        existing = result.get(element)
        if existing is None:
            result[element] = node
        elif existing is not node and (existing or node):
            result[element] = _union_nodes(existing, node)
    return result


def _union_nodes(first: FieldSet, second: FieldSet) -> FieldSet:
    if not first:
        return second if SELF in second else with_self(second)
    if not second:
        return first if SELF in first else with_self(first)
    return _joined(first, second)


def intersection(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return the fields that are in both sets."""
    result: FieldSet = {}
    if not first or not second:
        return result
    for element, node in first.items():
        other = second.get(element)
        if other is not None and element != SELF:
            shared = _shared_node(node, other)
            if shared is not None:
                result[element] = shared
    return result


def _shared_node(first: FieldSet, second: FieldSet) -> FieldSet | None:
    children = intersection(first, second)
    if is_member(first) and is_member(second):
        return with_self(children)
    return children or None


def difference(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return the fields of the first set that are not in the second; children stay without their parent."""
    if not first or not second:
        return first
    result: FieldSet = {}
    for element, node in first.items():
        if element == SELF:
            continue
        other = second.get(element)
        if other is None:
            result[element] = node
        elif node != other:
            rest = _rest_of_node(node, other)
            if rest is not None:
                result[element] = rest
    return result


def _rest_of_node(first: FieldSet, second: FieldSet) -> FieldSet | None:
    children = difference(first, second) if second else {key: first[key] for key in first if key != SELF}
    if is_member(first) and not is_member(second):
        return with_self(children)
    return children or None


def without(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return a set without the fields of another and without everything below them."""
    if not first or not second:
        return first
    result: FieldSet = {}
    for element, node in first.items():
        other = second.get(element)
        if other is None:
            result[element] = node
        elif not is_member(other):
            rest = without(node, other)
            if rest or not node:
                result[element] = rest if len(rest) != 1 or SELF not in rest else FIELD
    return result


def contains(fields: FieldSet, path: Path) -> bool:
    """Return whether a field is in a set."""
    node: FieldSet | None = fields
    for element in path:
        node = node.get(element) if node else None
        if node is None:
            return False
    return bool(path) and node is not None and is_member(node)


def single(path: Path) -> FieldSet:
    """Return the set of one field."""
    node: FieldSet = FIELD
    for element in reversed(path):
        node = {element: node}
    return node


def paths(fields: FieldSet) -> Iterator[Path]:
    """Return the fields of a set in Kubernetes' order: those of a level before anything deeper."""
    pending: list[tuple[Path, FieldSet]] = [((), fields)]
    while pending:
        prefix, node = pending.pop()
        elements = sorted((element for element in node if element != SELF), key=order)
        for element in elements:
            if is_member(node[element]):
                yield (*prefix, element)
        pending += [((*prefix, element), node[element]) for element in reversed(elements) if node[element]]


def path_text(path: Path) -> str:
    """Return a field as messages name it."""
    return "".join([described(element) for element in path])


def decode_fields(fields: Any) -> FieldSet:
    """Read a set; raise BadManagedFields when it is not one."""
    if fields is None:
        return {}
    try:
        decoded = _decoded(fields)
    except BadElement as error:
        raise BadManagedFields(f"error decoding set: parsing key as path element: {error}") from None
    # The object as a whole has no owner.
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
