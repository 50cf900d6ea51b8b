"""Arithmetic, comparisons and access to the parts of values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.kro.cel.data import DataList
from crossply.functions.builtin.kro.cel.times import FIRST_SECOND, LAST_SECOND
from crossply.functions.builtin.kro.cel.values import (
    MISSING,
    NONE,
    Duration,
    EvaluationError,
    NoSuchOverload,
    Optional,
    Timestamp,
    UInt,
    compare,
    entries_of,
    equal,
    find,
    is_list,
    is_map,
    is_number,
    items_of,
    to_key,
    type_name,
)

_INT64 = 2**63
_UINT64 = 2**64
_SECOND = 10**9


def member_of(value: Any, key: Any) -> Any:
    """The field or element of a value, or MISSING; an optional value gives an optional one.

    What is neither a map nor a list, such as null, has no members: that is no error.
    """
    if isinstance(value, Optional):
        if not value.has_value:
            return NONE
        member = member_of(value.value, key)
        return NONE if member is MISSING else Optional((member,))
    if is_map(value):
        return find(value, key)
    if not is_list(value):
        return MISSING
    items = items_of(value)
    place = _whole_index(key)
    return items[place] if 0 <= place < len(items) else MISSING


def _whole_index(key: Any) -> int:
    if not is_number(key):
        raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")
    if isinstance(key, float) and not key.is_integer():
        raise EvaluationError(f"unsupported index value {key:g} in list")
    return int(key)


def is_in(value: Any, container: Any) -> bool:
    if is_map(container):
        try:
            return find(container, value) is not MISSING
        except EvaluationError:
            return False
    return any(equal(item, value) for item in items_of(container))


def add(one: Any, other: Any) -> Any:
    if isinstance(one, Duration) and isinstance(other, Timestamp):
        one, other = other, one
    if isinstance(one, Timestamp) and isinstance(other, Duration):
        return _time(one.nanoseconds + other.nanoseconds, one.offset)
    if isinstance(one, Duration) and isinstance(other, Duration):
        return _duration(one.nanoseconds + other.nanoseconds)
    if is_list(one) and is_list(other):
        return one.plus(items_of(other)) if isinstance(one, DataList) else items_of(one) + items_of(other)
    if type(one) is type(other) and isinstance(one, str | bytes):
        return one + other
    return _arithmetic(one, other, lambda left, right: left + right)


def subtract(one: Any, other: Any) -> Any:
    if isinstance(one, Timestamp) and isinstance(other, Timestamp):
        return _duration(one.nanoseconds - other.nanoseconds)
    if isinstance(one, Timestamp) and isinstance(other, Duration):
        return _time(one.nanoseconds - other.nanoseconds, one.offset)
    if isinstance(one, Duration) and isinstance(other, Duration):
        return _duration(one.nanoseconds - other.nanoseconds)
    return _arithmetic(one, other, lambda left, right: left - right)


def multiply(one: Any, other: Any) -> Any:
    return _arithmetic(one, other, lambda left, right: left * right)


def divide(one: Any, other: Any) -> Any:
    if isinstance(one, float) and isinstance(other, float):
        return _float_quotient(one, other)
    _check_same_numbers(one, other)
    if not other:
        raise EvaluationError("division by zero")
    quotient = abs(one) // abs(other)
    return _checked(type(one), quotient if (one < 0) == (other < 0) else -quotient)


def _float_quotient(one: float, other: float) -> float:
    if other:
        return one / other
    if not one or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, other)


def modulo(one: Any, other: Any) -> Any:
    _check_same_numbers(one, other)
    if isinstance(one, float):
        raise NoSuchOverload
    if not other:
        raise EvaluationError("modulus by zero")
    rest = abs(one) % abs(other)
    return _checked(type(one), rest if one >= 0 else -rest)


def negate(value: Any) -> Any:
    if isinstance(value, float):
        return -value
    if type(value) is int:
        return _checked(int, -value)
    if isinstance(value, Duration):
        return _duration(-value.nanoseconds)
    raise NoSuchOverload


def invert(value: Any) -> bool:
    if not isinstance(value, bool):
        raise NoSuchOverload
    return not value


def not_strictly_false(value: Any) -> bool:
    return value is not False


def map_insert(target: Any, *addition: Any) -> dict[Any, Any]:
    """A map with one more entry, or with those of another map; a key that is there already is an error."""
    result = {to_key(key): value for key, value in entries_of(target)}
    if len(addition) == 1 and not is_map(addition[0]):
        raise NoSuchOverload
    for key, value in entries_of(addition[0]) if len(addition) == 1 else [addition]:
        if to_key(key) in result:
            raise EvaluationError(f"insert failed: key {key} already exists")
        result[to_key(key)] = value
    return result


def _arithmetic(one: Any, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
    _check_same_numbers(one, other)
    if isinstance(one, float):
        try:
            return operation(one, other)
        except OverflowError:
            return math.inf
    return _checked(type(one), operation(int(one), int(other)))


def _check_same_numbers(one: Any, other: Any) -> None:
    if type(one) is not type(other) or not is_number(one):
        raise NoSuchOverload


def _checked(kind: type, number: int) -> int:
    if kind is UInt:
        if not 0 <= number < _UINT64:
            raise EvaluationError("unsigned integer overflow")
        return UInt(number)
    if not -_INT64 <= number < _INT64:
        raise EvaluationError("integer overflow")
    return number


def _duration(nanoseconds: int) -> Duration:
    if not -_INT64 <= nanoseconds < _INT64:
        raise EvaluationError("duration overflow")
    return Duration(nanoseconds)


def _time(nanoseconds: int, offset: int) -> Timestamp:
    if not FIRST_SECOND <= nanoseconds // _SECOND <= LAST_SECOND:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanoseconds, offset)


OPERATORS: dict[str, Callable[..., Any]] = {
    "_+_": add,
    "_-_": subtract,
    "_*_": multiply,
    "_/_": divide,
    "_%_": modulo,
    "-_": negate,
    "!_": invert,
    "@not_strictly_false": not_strictly_false,
    "_<_": lambda one, other: compare(one, other) < 0,
    "_<=_": lambda one, other: compare(one, other) <= 0,
    "_>_": lambda one, other: compare(one, other) > 0,
    "_>=_": lambda one, other: compare(one, other) >= 0,
    "@in": is_in,
    "cel.@mapInsert": map_insert,
}
