"""When two values are the same to the owner of a field: numbers by value, everything else by type too."""

from __future__ import annotations

from typing import Any


def same(first: Any, second: Any) -> bool:
    """Tell whether two JSON values are equal: 1 is 1.0, but true is not 1."""
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
