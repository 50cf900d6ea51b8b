"""CEL functions on lists and on lists taken as sets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from crossply.schema.single_value_validation import identity

MOST_NUMBERS = 100_000
"""A longer range is an attack: the evaluator stops after fewer steps."""


def is_sorted(items: list[Any]) -> bool:
    """Return whether no item is smaller than the one before it."""
    return all(not later < earlier for earlier, later in pairwise(items))


def total(items: list[Any]) -> Any:
    """Return the sum of numbers or of durations; an empty list sums to 0."""
    return sum(items[1:], items[0]) if items else 0


def smallest(items: list[Any]) -> Any:
    """Return the smallest item."""
    if not items:
        raise ValueError("min called on empty list")
    return min(items)


def largest(items: list[Any]) -> Any:
    """Return the largest item."""
    if not items:
        raise ValueError("max called on empty list")
    return max(items)


def index_of(items: list[Any], sought: Any) -> int:
    """Return where an item is first, or -1."""
    keys = [_key(item) for item in items]
    return keys.index(_key(sought)) if _key(sought) in keys else -1


def last_index_of(items: list[Any], item: Any) -> int:
    """Return where an item is last, or -1."""
    at = index_of(items[::-1], item)
    return len(items) - 1 - at if at >= 0 else -1


def distinct(items: list[Any]) -> list[Any]:
    """Return a list with each item once, in the order of their first appearance."""
    return list({_key(item): item for item in reversed(items)}.values())[::-1]


def flatten(items: list[Any], depth: int = 1) -> list[Any]:
    """Return a list with the items of its lists in their place."""
    if depth < 0:
        raise ValueError("level must be non-negative")
    flat: list[Any] = []
    for item in items:
        if isinstance(item, list) and depth:
            flat += flatten(item, depth - 1)
        else:
            flat.append(item)
    return flat


def part(items: list[Any], start: int, end: int) -> list[Any]:
    """Return the items from one index up to another."""
    if start < 0 or end < 0:
        raise ValueError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise ValueError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise ValueError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def numbers(count: int) -> list[int]:
    """Return the integers from 0 up to a count."""
    if count > MOST_NUMBERS:
        raise ValueError(f"a range of {count} is more than {MOST_NUMBERS}")
    return list(range(count))


def contains(items: list[Any], members: list[Any]) -> bool:
    """Return whether a set has every item of another."""
    return _set(members) <= _set(items)


def equivalent(one: list[Any], other: list[Any]) -> bool:
    """Return whether two sets have the same items."""
    return _set(one) == _set(other)


def intersects(one: list[Any], other: list[Any]) -> bool:
    """Return whether two sets have an item in common."""
    return bool(_set(one) & _set(other))


def _set(items: list[Any]) -> set[Any]:
    return {_key(item) for item in items}


def _key(item: Any) -> Any:
    # Numbers of different types are equal in CEL when their values are.
    return identity(float(item) if type(item) is int else item)
