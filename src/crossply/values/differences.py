"""What differs between two JSON values, field by field.

Items of a list that have a name (or, as conditions, a type) are compared by it, so that an item that moved or
was put in between does not make all that follow differ.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.values import Object
from crossply.values.deepcopy import equal


class Missing:
    """The value of a field that is not there."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()

Segment = str | int


class Item(str):
    """The name by which an item of a list is found."""

    __slots__ = ()


Path = tuple[Segment, ...]

_NAMED_BY = ("name", "type")


class Difference(NamedTuple):
    """One field: what it was and what it is, MISSING where it is not."""

    path: Path
    before: Any
    after: Any

    @property
    def field(self) -> str:
        """The path as people write it."""
        return written(self.path)


def differences(before: Any, after: Any) -> list[Difference]:
    """Every field that differs, in the order of the paths; maps that are new or gone are told by field."""
    found = []
    pending: list[tuple[Path, Any, Any]] = [((), before, after)]
    while pending:
        path, one, other = pending.pop()
        if one is other:
            continue
        inner = _inner(one, other)
        if inner is not None:
            pending += [((*path, key), a, b) for key, a, b in inner]
        elif not equal(one, other):
            found.append(Difference(path, one, other))
    found.sort(key=lambda each: [str(segment) for segment in each.path])
    return found


def _inner(one: Any, other: Any) -> list[tuple[Segment, Any, Any]] | None:
    """The parts that two values are compared by; None where they are compared as they are."""
    if _are_lists(one, other):
        return _items(*(each if isinstance(each, list) else [] for each in (one, other)))
    if not any(isinstance(each, dict) and each for each in (one, other)):
        return None
    if not all(isinstance(each, dict | Missing) for each in (one, other)):
        return None
    first, second = (each if isinstance(each, dict) else {} for each in (one, other))
    return [(key, first.get(key, MISSING), second.get(key, MISSING)) for key in {**first, **second}]


def _are_lists(one: Any, other: Any) -> bool:
    """Two lists, or one of objects that is new or gone."""
    if isinstance(one, list) and isinstance(other, list):
        return True
    there, missing = (one, other) if isinstance(one, list) else (other, one)
    return isinstance(there, list) and missing is MISSING and any(isinstance(each, dict) for each in there)


def _items(one: list[Any], other: list[Any]) -> list[tuple[Segment, Any, Any]] | None:
    for field in _NAMED_BY:
        first, second = _by_name(one, field), _by_name(other, field)
        if first is not None and second is not None and (first or second):
            names = {**first, **second}
            return [(Item(name), first.get(name, MISSING), second.get(name, MISSING)) for name in names]
    if not all(isinstance(each, dict | list) for each in (*one, *other)):
        return None
    longest = max(len(one), len(other))
    return [
        (index, one[index] if index < len(one) else MISSING, other[index] if index < len(other) else MISSING)
        for index in range(longest)
    ]


def _by_name(items: list[Any], field: str) -> Object | None:
    named: Object = {}
    for item in items:
        name = item.get(field) if isinstance(item, dict) else None
        if not isinstance(name, str) or name in named:
            return None
        named[name] = item
    return named


def written(path: Path) -> str:
    """A path as people write it: `spec.containers[app].ports[0]`, `metadata.labels[example.org/team]`."""
    text = ""
    for segment in path:
        if isinstance(segment, int | Item) or "." in segment:
            text += f"[{segment}]"
        else:
            text += f".{segment}" if text else segment
    return text


def carried(before: Object, after: Object, onto: Object) -> Object:
    """What `onto` becomes when the change from `before` to `after` is made to it, too; lists change whole."""
    result = dict(onto)
    for key in {**before, **after}:
        if key not in after:
            result.pop(key, None)
            continue
        old, new, held = before.get(key), after[key], result.get(key)
        if key in before and old == new:
            continue
        if isinstance(new, dict) and isinstance(held, dict):
            result[key] = carried(old if isinstance(old, dict) else {}, new, held)
        else:
            result[key] = new
    return result
