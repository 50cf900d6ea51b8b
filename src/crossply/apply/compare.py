"""What differs between two objects, as three sets of fields.

A leaf that differs is modified; what only one side has is added or removed, each with everything below it.
Parts that are the same Python object are not entered, and merging keeps what it does not change: so after
an apply this walk costs as much as the change is big.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.apply.errors import NotTyped
from crossply.apply.field_sets import FIELD, SELF, FieldSet, Path, path_text, union, with_self
from crossply.apply.field_sets import without as excluded
from crossply.apply.path_elements import BadElement, item_element, item_elements
from crossply.apply.schema_types import ABSENT, LIST, MAP, ListType, MapType, Type, form_of


class Comparison(NamedTuple):
    """The fields that a new object removed, modified and added."""

    removed: FieldSet
    modified: FieldSet
    added: FieldSet

    def changed(self) -> FieldSet:
        """Return the fields that have a new value."""
        return union(self.modified, self.added)

    def without(self, fields: FieldSet | None) -> Comparison:
        """Leave out fields that do not count, with everything below them."""
        return Comparison(*[excluded(part, fields) for part in self]) if fields else self


NO_CHANGE = Comparison({}, {}, {})


def compare(old: Any, new: Any, type_: Type) -> Comparison:
    """Return what differs between two checked objects."""
    if old is new:
        return NO_CHANGE
    walk = _Walk()
    walk.visit(old, new, type_, ())
    return Comparison(walk.removed, walk.modified, walk.added)


class _Walk:
    """Collects differences; a path is the elements that led here."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self) -> None:
        self.removed: FieldSet = {}
        self.modified: FieldSet = {}
        self.added: FieldSet = {}

    def visit(self, old: Any, new: Any, type_: Type, path: Path) -> None:
        if old is new:
            return
        if old is ABSENT:
            _put(self.added, path, every_field(new, type_))
        elif new is ABSENT:
            _put(self.removed, path, every_field(old, type_))
        else:
            old_form, new_form = form_of(type_, old), form_of(type_, new)
            # A value that became one of another form is compared as both.
            if old_form != new_form:
                self._visit_as(old_form[0], old, new, type_, path)
            self._visit_as(new_form[0], old, new, type_, path)

    def _visit_as(self, form: str, old: Any, new: Any, type_: Type, path: Path) -> None:
        if form == MAP and type_.map is not None and not type_.map.atomic:
            old_members, new_members = _as_map(old), _as_map(new)
            if old_members or new_members:
                self._members(old_members, new_members, type_.map, path)
                return
        elif form == LIST and type_.list is not None and not type_.list.atomic:
            before, after = _as_list(old), _as_list(new)
            if before or after:
                self._items(before, after, type_.list, path)
                return
        if not same(old, new):
            _put(self.modified, path, FIELD)

    def _members(self, old: dict[str, Any], new: dict[str, Any], map_type: MapType, path: Path) -> None:
        fields, element = map_type.fields, map_type.element
        for name, before in old.items():
            after = new.get(name, ABSENT)
            if before is after or (before.__class__ is str and before == after):
                continue
            type_ = fields.get(name, element)
            if type_ is not None:
                self.visit(before, after, type_, (*path, f"f:{name}"))
        for name, after in new.items():
            if name not in old:
                type_ = fields.get(name, element)
                if type_ is not None:
                    self.visit(ABSENT, after, type_, (*path, f"f:{name}"))

    def _items(self, old: list[Any], new: list[Any], list_type: ListType, path: Path) -> None:
        try:
            before, after = _grouped(old, list_type), _grouped(new, list_type)
        except BadElement:
            raise _without_identity(old, new, list_type, path) from None
        for element in [*before, *[element for element in after if element not in before]]:
            self._item(before.get(element, []), after.get(element, []), list_type.element, (*path, element))

    def _item(self, old: list[Any], new: list[Any], type_: Type, path: Path) -> None:
        if len(old) < 2 and len(new) < 2:
            self.visit(old[0] if old else ABSENT, new[0] if new else ABSENT, type_, path)
        elif len(old) > 1 and len(new) > 1:
            if not same(old, new):
                _put(self.modified, path, FIELD)
        elif len(old) > 1:
            # The item was there several times and is no more: what is left is new.
            if new:
                self.visit(ABSENT, new[0], type_, path)
            _put(self.removed, path, FIELD)
        else:
            if old:
                self.visit(old[0], ABSENT, type_, path)
            _put(self.added, path, FIELD)


def _without_identity(old: list[Any], new: list[Any], list_type: ListType, path: Path) -> NotTyped:
    """Return the error about items that pruning left without distinct keys."""
    messages = []
    for index, item in [*enumerate(old), *enumerate(new)]:
        try:
            item_element(list_type, item)
        except BadElement as error:
            messages.append(f"{path_text(path)}: element {index}: {error}")
    text = messages[0] if len(messages) == 1 else "\n  ".join(["errors:", *messages])
    return NotTyped(f"failed to compare objects: {text}")


def _as_map(value: Any) -> dict[str, Any]:
    return value if value.__class__ is dict else {}


def _as_list(value: Any) -> list[Any]:
    return value if value.__class__ is list else []


def _grouped(items: list[Any], list_type: ListType) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for element, item in zip(item_elements(list_type, items), items, strict=True):
        groups.setdefault(element, []).append(item)
    return groups


def _put(fields: FieldSet, path: Path, node: FieldSet) -> None:
    """Add a field and what is below it to a set that is being built."""
    if not path:
        fields.update({element: below for element, below in node.items() if element != SELF})
        return
    for element in path[:-1]:
        deeper = fields.get(element)
        if deeper is None:
            deeper = fields[element] = {}
        elif deeper is FIELD:
            deeper = fields[element] = {SELF: FIELD}
        fields = deeper
    last = path[-1]
    node_before = fields.get(last)
    fields[last] = node if node_before is None else union({last: node_before}, {last: node})[last]


def every_field(value: Any, type_: Type) -> FieldSet:
    """Return an added or removed field and every field below it."""
    form, _ = form_of(type_, value)
    if form == MAP and type_.map is not None:
        return _every_member(value, type_.map)
    if form == LIST and type_.list is not None:
        return _every_item(value, type_.list)
    return FIELD


def _every_member(value: Any, map_type: MapType) -> FieldSet:
    if map_type.atomic or value.__class__ is not dict:
        return FIELD
    fields, element = map_type.fields, map_type.element
    result: FieldSet = {}
    for name, member in value.items():
        type_ = fields.get(name, element)
        if member.__class__ is str or type_ is None:
            result[f"f:{name}"] = FIELD
        else:
            result[f"f:{name}"] = every_field(member, type_)
    return with_self(result)


def _every_item(value: Any, list_type: ListType) -> FieldSet:
    if list_type.atomic or value.__class__ is not list:
        return FIELD
    result: FieldSet = {}
    for element, items in _grouped(value, list_type).items():
        result[element] = every_field(items[0], list_type.element) if len(items) == 1 else FIELD
    return with_self(result)


def same(first: Any, second: Any) -> bool:
    """Return whether two JSON values are equal: 1 is 1.0, but true is not 1."""
    if first is second:
        return True
    kind = first.__class__
    if kind is not second.__class__:
        return kind in _NUMBERS and second.__class__ in _NUMBERS and bool(first == second)
    if kind is dict:
        return _same_members(first, second)
    if kind is list:
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def _same_members(first: dict[str, Any], second: dict[str, Any]) -> bool:
    if first.keys() != second.keys():
        return False
    return all(same(value, second[key]) for key, value in first.items())


_NUMBERS = frozenset((int, float))
