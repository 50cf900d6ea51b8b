"""Mistakes that an update does not make: they were there before, in a part that it leaves as it was.

A schema may become stricter while there are objects that it would not take. Such an object can still be
changed: an error is forgiven if the value it is about, or one around it, equals what it was. Items of a list
are compared one by one only where they have keys.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.schema.field_errors import FieldError
from crossply.values import Object
from crossply.values.deepcopy import equal


class _Place(NamedTuple):
    """A value, what it was, its schema, and how the path to the error goes on from here."""

    new: Any
    old: Any
    schema: Any
    rest: str


def new_errors(errors: list[FieldError], new: Object, old: Object, schema: Object) -> list[FieldError]:
    """The errors that an update is to blame for."""
    return [error for error in errors if not _is_forgiven(_Place(new, old, schema, error.field))]


def _is_forgiven(place: _Place) -> bool:
    at: _Place | None = place
    while at is not None and at.old is not None:
        if equal(at.new, at.old):
            return True
        at = _next(at)
    return False


def _next(place: _Place) -> _Place | None:
    """One step along the path; None where it ends or where old and new cannot be compared any more."""
    schema = place.schema if isinstance(place.schema, dict) else {}
    if isinstance(place.new, dict) and isinstance(place.old, dict):
        return _into_member(place, schema)
    if isinstance(place.new, list) and isinstance(place.old, list):
        return _into_item(place, schema)
    return None


def _into_member(place: _Place, schema: Object) -> _Place | None:
    # Paths are texts, and keys may hold dots: the longest key that fits is meant.
    for key in sorted(place.new, key=len, reverse=True):
        rest = _after(place.rest, key)
        if rest is not None:
            below = (schema.get("properties") or {}).get(key) or schema.get("additionalProperties")
            return _Place(place.new[key], place.old.get(key), below, rest)
    return None


def _after(path: str, key: str) -> str | None:
    """What follows a key at the beginning of a path, written `key`, `.key` or `[key]`."""
    if path.startswith(f"[{key}]"):
        return path[len(key) + 2 :]
    path = path.removeprefix(".")
    if path.startswith(key) and path[len(key) : len(key) + 1] in ("", ".", "["):
        return path[len(key) :]
    return None


def _into_item(place: _Place, schema: Object) -> _Place | None:
    index, bracket, rest = place.rest.removeprefix("[").partition("]")
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    if not bracket or not index.isdigit() or int(index) >= len(place.new) or not keys:
        return None
    item = place.new[int(index)]
    before = next((each for each in place.old if _identity(each, keys) == _identity(item, keys)), None)
    return _Place(item, before, schema.get("items"), rest)


def _identity(item: Any, keys: list[str]) -> list[Any] | None:
    return [item.get(key) for key in keys] if isinstance(item, dict) else None
