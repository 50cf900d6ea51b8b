"""Functions on lists, maps and optional values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from crossply.functions.builtin.kro.cel.operators import add
from crossply.functions.builtin.kro.cel.values import (
    NONE,
    Duration,
    EvaluationError,
    NoSuchOverload,
    Optional,
    Timestamp,
    compare,
    entries_of,
    equal,
    is_list,
    is_map,
    items_of,
    size_of,
    to_key,
    type_name,
)

MOST_NUMBERS = 1_000_000
"""The longest list that `lists.range` makes."""

_Comparable = bool | int | float | str | bytes | Duration | Timestamp


def index_of_item(items: list[Any], sought: Any) -> int:
    return next((at for at, item in enumerate(items) if equal(item, sought)), -1)


def last_index_of_item(items: list[Any], sought: Any) -> int:
    return next((at for at in range(len(items) - 1, -1, -1) if equal(items[at], sought)), -1)


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise NoSuchOverload
    return value


def _slice(value: Any, start: Any, end: Any) -> list[Any]:
    items = items_of(value)
    start, end = _integer(start), _integer(end)
    call = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError(f"{call}, negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{call}, start index must be less than or equal to end index")
    if end > len(items):
        raise EvaluationError(f"{call}, list is length {len(items)}")
    return items[start:end]


def _flatten(value: Any, depth: Any = 1) -> list[Any]:
    if _integer(depth) < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Any] = []
    for item in items_of(value):
        if is_list(item) and depth:
            flat += _flatten(item, depth - 1)
        else:
            flat.append(item)
    return flat


def sort_by_keys(value: Any, keys: Any) -> list[Any]:
    """A list in the order of the keys of its items."""
    items, order = items_of(value), items_of(keys)
    if len(items) != len(order):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got "
            f"{len(items)} and {len(order)} elements respectively"
        )
    if not isinstance(order[0] if order else "", _Comparable):
        raise EvaluationError("list elements must be comparable")
    if any(type_name(key) != type_name(order[0]) for key in order):
        raise EvaluationError("list elements must have the same type")
    by_key = cmp_to_key(compare)
    return [item for _, item in sorted(zip(order, items, strict=True), key=lambda pair: by_key(pair[0]))]


def _distinct(value: Any) -> list[Any]:
    items: list[Any] = []
    plain: set[Any] = set()
    for item in items_of(value):
        if isinstance(item, str):
            if item not in plain:
                plain.add(item)
                items.append(item)
        elif not any(equal(item, other) for other in items):
            items.append(item)
    return items


def _range(count: Any) -> list[int]:
    if _integer(count) < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > MOST_NUMBERS:
        raise EvaluationError(f"lists.range: size {count} exceeds maximum allowed ({MOST_NUMBERS})")
    return list(range(count))


def _comparable_items(value: Any) -> list[Any]:
    items = items_of(value)
    if not all(isinstance(item, _Comparable) for item in items):
        raise NoSuchOverload
    return items


def _order(one: Any, other: Any) -> int:
    """As `compare`; values of different types are in order, however they stand."""
    try:
        return compare(one, other)
    except EvaluationError:
        return 0


def _is_sorted(value: Any) -> bool:
    items = _comparable_items(value)
    return all(_order(items[at], items[at + 1]) <= 0 for at in range(len(items) - 1))


def _sum(value: Any) -> Any:
    items = items_of(value)
    total: Any = items[0] if items else 0
    for item in items[1:]:
        total = add(total, item)
    return total


def _extreme(name: str, sign: int) -> Callable[[Any], Any]:
    def find(value: Any) -> Any:
        items = _comparable_items(value)
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        best = items[0]
        for item in items[1:]:
            if _order(item, best) * sign > 0:
                best = item
        return best

    return find


def _end(at: int) -> Callable[[Any], Optional]:
    def find(value: Any) -> Optional:
        items = items_of(value)
        return Optional((items[at],)) if items else NONE

    return find


def _non_zero(value: Any) -> Optional:
    is_zero = value is None or value is False
    if isinstance(value, str | bytes) or is_list(value) or is_map(value):
        is_zero = not size_of(value)
    elif isinstance(value, int | float):
        is_zero = not value
    elif isinstance(value, Duration):
        is_zero = not value.nanoseconds
    elif isinstance(value, Optional):
        is_zero = not value.has_value
    return NONE if is_zero else Optional((value,))


def _optional(value: Any) -> Optional:
    if not isinstance(value, Optional):
        raise NoSuchOverload
    return value


def _unwrapped(value: Any) -> list[Any]:
    contents: list[Any] = []
    for item in items_of(value):
        if not isinstance(item, Optional):
            raise EvaluationError(f"value {item} is not optional")
        contents.extend(item.content)
    return contents


def _merge(one: Any, other: Any) -> dict[Any, Any]:
    if not is_map(one) or not is_map(other):
        raise NoSuchOverload
    return {to_key(key): value for map_ in (one, other) for key, value in entries_of(map_)}


def _at_index(name: str, change: Callable[..., list[Any]], extra: int, bracket: str) -> Callable[..., Any]:
    """A function that changes a list at an index, which may be `extra` places behind its end."""

    def call(value: Any, place: Any, *item: Any) -> list[Any]:
        items = items_of(value)
        if not 0 <= _integer(place) < len(items) + extra:
            raise EvaluationError(f"{name}: index {place} out of bounds [0, {len(items)}{bracket}")
        return change(items, place, *item)

    return call


LIST_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "slice": _slice,
    "flatten": _flatten,
    "sort": lambda value: sort_by_keys(value, value),
    "@sortByAssociatedKeys": sort_by_keys,
    "distinct": _distinct,
    "lists.range": _range,
    "first": _end(0),
    "last": _end(-1),
    "isSorted": _is_sorted,
    "sum": _sum,
    "min": _extreme("min", -1),
    "max": _extreme("max", 1),
    "optional.of": lambda value: Optional((value,)),
    "optional.ofNonZeroValue": _non_zero,
    "optional.none": lambda: NONE,
    "value": lambda value: _optional(value).value,
    "hasValue": lambda value: _optional(value).has_value,
    "optional.unwrap": _unwrapped,
    "unwrapOpt": _unwrapped,
    "merge": _merge,
    "lists.setAtIndex": _at_index(
        "lists.setAtIndex", lambda items, at, item: [*items[:at], item, *items[at + 1 :]], 0, ")"
    ),
    "lists.insertAtIndex": _at_index(
        "lists.insertAtIndex", lambda items, at, item: [*items[:at], item, *items[at:]], 1, "]"
    ),
    "lists.removeAtIndex": _at_index(
        "lists.removeAtIndex", lambda items, at: [*items[:at], *items[at + 1 :]], 0, ")"
    ),
}
