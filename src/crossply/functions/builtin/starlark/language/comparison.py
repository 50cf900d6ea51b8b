"""Equality and order of values."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import Set, Struct, Value, type_name

MAX_DEPTH = 10
_SCALARS = frozenset((int, str, float, bool, bytes))
_NUMBERS = frozenset((int, float))
_ORDERED = frozenset((int, str, float, bool, bytes))


def equal(one: Value, other: Value, depth: int = MAX_DEPTH) -> bool:
    kind, other_kind = one.__class__, other.__class__
    if kind is other_kind and kind in _SCALARS:
        return bool(one == other)
    if one is None or other is None or one is other:
        return one is other
    if kind in _NUMBERS and other_kind in _NUMBERS:
        return bool(one == other)
    if kind in _SCALARS or other_kind in _SCALARS:
        return False
    return _equal_containers(one, other, depth)


def _equal_containers(one: Value, other: Value, depth: int) -> bool:
    if depth < 1:
        raise EvalError("comparison exceeded maximum recursion depth")
    if (isinstance(one, list) and isinstance(other, list)) or (
        isinstance(one, tuple) and isinstance(other, tuple)
    ):
        return len(one) == len(other) and all(
            equal(item, against, depth - 1) for item, against in zip(one, other, strict=True)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            key in other and equal(item, other[key], depth - 1) for key, item in one.items()
        )
    if isinstance(one, Set) and isinstance(other, Set):
        return one.elements.keys() == other.elements.keys()
    if isinstance(one, Struct) and isinstance(other, Struct):
        return equal(one.fields, other.fields, depth)
    return bool(isinstance(one, range) and one == other)


def not_equal(one: Value, other: Value) -> bool:
    return not equal(one, other)


def less(one: Value, other: Value) -> bool:
    if one.__class__ is other.__class__ and one.__class__ in _ORDERED:
        return bool(one < other)
    return _compare(one, other, "<") < 0


def less_or_equal(one: Value, other: Value) -> bool:
    return _compare(one, other, "<=") <= 0


def greater(one: Value, other: Value) -> bool:
    if one.__class__ is other.__class__ and one.__class__ in _ORDERED:
        return bool(one > other)
    return _compare(one, other, ">") > 0


def greater_or_equal(one: Value, other: Value) -> bool:
    return _compare(one, other, ">=") >= 0


def _compare(one: Any, other: Any, operator: str, depth: int = MAX_DEPTH) -> int:
    """Below zero, zero, or above it."""
    if depth < 1:
        raise EvalError("comparison exceeded maximum recursion depth")
    kind, other_kind = one.__class__, other.__class__
    if (kind is other_kind and kind in _ORDERED) or (kind in _NUMBERS and other_kind in _NUMBERS):
        return int(one > other) - int(one < other)
    for sequence in (list, tuple):
        if isinstance(one, sequence) and isinstance(other, sequence):
            for item, against in zip(one, other, strict=False):
                if not equal(item, against, depth - 1):
                    return _compare(item, against, operator, depth - 1)
            return len(one) - len(other)
    if isinstance(one, Set) and isinstance(other, Set):
        return _compare_sets(one, other)
    raise EvalError(f"{type_name(one)} {operator} {type_name(other)} not implemented")


def _compare_sets(one: Set, other: Set) -> int:
    """Sets are ordered by inclusion; two that have no order give a number that fits no operator."""
    elements, others = one.elements.keys(), other.elements.keys()
    if elements == others:
        return 0
    if elements < others:
        return -1
    return 1 if elements > others else _UNORDERED


_UNORDERED: Any = float("nan")

sort_key = cmp_to_key(lambda one, other: _compare(one, other, "<"))
