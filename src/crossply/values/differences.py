"""The differences between two JSON values, field by field.

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
    """One field with its old and its new value; MISSING where there is none."""

    path: Path
    before: Any
    after: Any

    @property
    def field(self) -> str:
        """The path as users write it."""
        return written(self.path)


def differences(before: Any, after: Any) -> list[Difference]:
    """Every field that differs, in the order of the paths; added and removed maps are listed by field."""
    result = []
    pending: list[tuple[Path, Any, Any]] = [((), before, after)]
    while pending:
        path, left, right = pending.pop()
        if left is right:
            continue
        inner = _inner(left, right)
        if inner is not None:
            pending += [((*path, key), a, b) for key, a, b in inner]
        elif not equal(left, right):
            result.append(Difference(path, left, right))
    result.sort(key=lambda difference: [str(segment) for segment in difference.path])
    return result


def _inner(left: Any, right: Any) -> list[tuple[Segment, Any, Any]] | None:
    """The parts that two values are compared by; None where they are compared as they are."""
    if _are_lists(left, right):
        return _items(*(side if isinstance(side, list) else [] for side in (left, right)))
    if not any(isinstance(side, dict) and side for side in (left, right)):
        return None
    if not all(isinstance(side, dict | Missing) for side in (left, right)):
        return None
    first, second = (side if isinstance(side, dict) else {} for side in (left, right))
    return [(key, first.get(key, MISSING), second.get(key, MISSING)) for key in {**first, **second}]


def _are_lists(left: Any, right: Any) -> bool:
    """Two lists, or one list of objects that was added or removed."""
    if isinstance(left, list) and isinstance(right, list):
        return True
    there, missing = (left, right) if isinstance(left, list) else (right, left)
    return isinstance(there, list) and missing is MISSING and any(isinstance(item, dict) for item in there)


def _items(left: list[Any], right: list[Any]) -> list[tuple[Segment, Any, Any]] | None:
    for field in _NAMED_BY:
        first, second = _by_name(left, field), _by_name(right, field)
        if first is not None and second is not None and (first or second):
            names = {**first, **second}
            return [(Item(name), first.get(name, MISSING), second.get(name, MISSING)) for name in names]
    if not all(isinstance(item, dict | list) for item in (*left, *right)):
        return None
    longest = max(len(left), len(right))
    return [
        (
            index,
            left[index] if index < len(left) else MISSING,
            right[index] if index < len(right) else MISSING,
        )
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
    """A path as users write it: `spec.containers[app].ports[0]`, `metadata.labels[example.org/team]`."""
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
        old, new, current = before.get(key), after[key], result.get(key)
        if key in before and old == new:
            continue
        if isinstance(new, dict) and isinstance(current, dict):
            result[key] = carried(old if isinstance(old, dict) else {}, new, current)
        else:
            result[key] = new
    return result
