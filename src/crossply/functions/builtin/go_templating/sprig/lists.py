"""List functions. A function and its must… variant are the same: failing is always an error."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import Lists, NilList, Uint8, go_kind
from crossply.functions.builtin.go_templating.engine.limits import check_items
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig.casting import is_slice, to_int64, truncated
from crossply.functions.builtin.go_templating.sprig.deep_equality import (
    Fingerprint,
    fingerprint,
    fingerprints,
)
from crossply.functions.builtin.go_templating.sprig.defaults import empty

_NIL_POINTER = "runtime error: invalid memory address or nil pointer dereference"
_BAD_LENGTH = "runtime error: makeslice: len out of range"


def make_list(*items: Any) -> list[Any]:
    """A list of the arguments."""
    return list(items)


def _items(value: Any, message: str) -> list[Any]:
    """The elements of a slice; raises FunctionFailed with the message and the kind of another value."""
    if value is None:
        raise FunctionFailed(_NIL_POINTER)
    if isinstance(value, bytes):
        return [Uint8(byte) for byte in value]
    if not is_slice(value):
        raise FunctionFailed(message.format(go_kind(value)))
    return value  # type: ignore[no-any-return]


def append(value: Any, item: Any) -> list[Any]:
    """The list with an item at its end."""
    return [*_items(value, "Cannot push on type {}"), item]


def prepend(value: Any, item: Any) -> list[Any]:
    """The list with an item before it."""
    return [item, *_items(value, "Cannot prepend on type {}")]


def first(value: Any) -> Any:
    """The first item; nil when there is none."""
    items = _items(value, "Cannot find first on type {}")
    return items[0] if items else None


def last(value: Any) -> Any:
    """The last item; nil when there is none."""
    items = _items(value, "Cannot find last on type {}")
    return items[-1] if items else None


def rest(value: Any) -> list[Any]:
    """All items but the first."""
    items = _items(value, "Cannot find rest on type {}")
    return list(items[1:]) if items else NilList()


def initial(value: Any) -> list[Any]:
    """All items but the last."""
    items = _items(value, "Cannot find initial on type {}")
    return list(items[:-1]) if items else NilList()


def reverse(value: Any) -> list[Any]:
    """The items from the last to the first."""
    return list(reversed(_items(value, "Cannot find reverse on type {}")))


def compact(value: Any) -> list[Any]:
    """The items that are not empty."""
    return [item for item in _items(value, "Cannot compact on type {}") if not empty(item)]


def uniq(value: Any) -> list[Any]:
    """Every item once."""
    items = _items(value, "Cannot find uniq on type {}")
    unique: dict[Fingerprint, Any] = {}
    for item_fingerprint, item in zip(fingerprints(items), items, strict=True):
        unique.setdefault(item_fingerprint, item)
    return list(unique.values())


def without(value: Any, *unwanted: Any) -> list[Any]:
    """The items that are not among the unwanted."""
    items = _items(value, "Cannot find without on type {}")
    excluded = set(fingerprints(unwanted))
    return [
        item
        for item_fingerprint, item in zip(fingerprints(items), items, strict=True)
        if item_fingerprint not in excluded
    ]


def has(needle: Any, haystack: Any) -> bool:
    """Whether a list holds an item."""
    if haystack is None:
        return False
    return fingerprint(needle) in fingerprints(_items(haystack, "Cannot find has on type {}"))


def slice_of(value: Any, *bounds: Any) -> Any:
    """The items from one index to another; nil of an empty list."""
    items = _items(value, "list should be type of slice or array but {}")
    if not items:
        return None
    start = to_int64(bounds[0]) if bounds else 0
    end = to_int64(bounds[1]) if len(bounds) > 1 else len(items)
    if not 0 <= start <= end <= len(items):
        raise FunctionFailed("reflect.Value.Slice: slice index out of bounds")
    return value[start:end] if isinstance(value, bytes) else items.__class__(items[start:end])


def concat(*values: Any) -> list[Any]:
    """All lists in one."""
    joined: list[Any] = []
    for value in values:
        joined += _items(value, "Cannot concat type {} as list")
        check_items(len(joined))
    return joined or NilList()


def chunk(size: int, value: Any) -> Lists:
    """Lists of so many items each."""
    items = _items(value, "Cannot chunk type {}")
    count = _chunk_count(len(items), size)
    return Lists(_chunks(items, size, count))


def _chunk_count(length: int, size: int) -> int:
    """How many chunks the library makes room for. It reckons with floats, so a size of zero gets this far."""
    if size == 0:
        raise FunctionFailed(_BAD_LENGTH)
    count = truncated(math.floor((length - 1) / size) + 1.0)
    if count < 0:
        raise FunctionFailed(_BAD_LENGTH)
    return count


def _chunks(items: list[Any], size: int, count: int) -> Iterable[list[Any]]:
    for index in range(count):
        length = size
        if index == count - 1:
            length = int(math.fmod(len(items), size)) or size
        if length < 0:
            raise FunctionFailed(_BAD_LENGTH)
        yield list(items[index * size : index * size + length])
