"""Ratcheting: ignore the errors of an update that are in values it does not change.

A schema may become stricter while invalid objects exist. Such an object can still be
changed: an error is ignored if its value, or one around it, is unchanged. Items of a list
are compared one by one only where they have keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from orjson import dumps

from crossply.schema.field_errors import MAX_ERRORS, FieldError
from crossply.values import Object
from crossply.values.cancellation import checkpoint
from crossply.values.deepcopy import equal


class _Place(NamedTuple):
    """A value, its old value, its schema, and the rest of the path to the error."""

    new: Any
    old: Any
    schema: Any
    rest: str


def new_errors(errors: list[FieldError], new: Object, old: Object, schema: Object) -> list[FieldError]:
    """The errors that an update introduces, limited to the number that is reported."""
    comparison = _Comparison()
    blamed = (error for error in errors if not comparison.forgives(_Place(new, old, schema, error.field)))
    return list(islice(blamed, MAX_ERRORS + 1))


class _Comparison:
    """Cached comparisons of two objects."""

    def __init__(self) -> None:
        # By identity: both objects outlive this.
        self._equal: dict[tuple[int, int], bool] = {}
        self._items: dict[int, dict[bytes, Any]] = {}

    def forgives(self, place: _Place) -> bool:
        """Whether the value that an error is about, or one around it, is as it was."""
        checkpoint()
        at: _Place | None = place
        while at is not None and at.old is not None:
            if self._is_equal(at.new, at.old):
                return True
            at = self._next(at)
        return False

    def _is_equal(self, new: Any, old: Any) -> bool:
        if type(new) not in (dict, list):
            return equal(new, old)
        pair = (id(new), id(old))
        if pair not in self._equal:
            self._equal[pair] = equal(new, old)
        return self._equal[pair]

    def _next(self, place: _Place) -> _Place | None:
        """One step along the path; None where it ends or where old and new cannot be compared any more."""
        schema = place.schema if isinstance(place.schema, dict) else {}
        if isinstance(place.new, dict) and isinstance(place.old, dict):
            return _into_member(place, schema)
        if isinstance(place.new, list) and isinstance(place.old, list):
            return self._into_item(place, schema)
        return None

    def _into_item(self, place: _Place, schema: Object) -> _Place | None:
        index, bracket, rest = place.rest.removeprefix("[").partition("]")
        keys = schema.get("x-kubernetes-list-map-keys") or ()
        if not bracket or not index.isdigit() or int(index) >= len(place.new) or not keys:
            return None
        item = place.new[int(index)]
        before = self._by_identity(place.old, keys).get(_identity(item, keys))
        return _Place(item, before, schema.get("items"), rest)

    def _by_identity(self, items: list[Any], keys: list[str]) -> dict[bytes, Any]:
        if id(items) not in self._items:
            known: dict[bytes, Any] = {}
            for item in items:
                known.setdefault(_identity(item, keys), item)
            self._items[id(items)] = known
        return self._items[id(items)]


def _into_member(place: _Place, schema: Object) -> _Place | None:
    for key, rest in _beginnings(place.rest):
        if key in place.new:
            below = (schema.get("properties") or {}).get(key) or schema.get("additionalProperties")
            return _Place(place.new[key], place.old.get(key), below, rest)
    return None


def _beginnings(path: str) -> Iterator[tuple[str, str]]:
    """The keys that a path can begin with, and what follows each; the longest comes first.

    Keys are written `key`, `.key` or `[key]`, and may hold dots and brackets themselves.
    """
    if path.startswith("["):
        for end in _places_of("]", path):
            yield path[1:end], path[end + 1 :]
    path = path.removeprefix(".")
    yield path, ""
    for end in _places_of(".[", path):
        yield path[:end], path[end:]


def _places_of(chars: str, path: str) -> list[int]:
    return [place for place in range(len(path) - 1, -1, -1) if path[place] in chars]


def _identity(item: Any, keys: list[str]) -> bytes:
    return dumps([item.get(key) for key in keys] if isinstance(item, dict) else None)
