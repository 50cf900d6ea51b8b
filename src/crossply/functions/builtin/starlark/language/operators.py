"""The operators of Starlark, for what Python does differently or says in other words."""

from __future__ import annotations

import math
from collections.abc import Callable

from crossply.functions.builtin.starlark.language import go_strings
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.formatting import interpolate
from crossply.functions.builtin.starlark.language.freezing_and_iteration import (
    check_mutable,
    elements_of,
    is_iterable,
)
from crossply.functions.builtin.starlark.language.values import (
    Set,
    Struct,
    Value,
    is_int,
    type_name,
)

MAX_ELEMENTS = 1 << 30
"""The most elements, or bytes, that one repetition may make."""
_MAX_SHIFT = 512
_NUMBERS = frozenset((int, float))


def _unknown(operator: str, one: Value, other: Value) -> EvalError:
    return EvalError(f"unknown binary op: {type_name(one)} {operator} {type_name(other)}")


def _are_numbers(one: Value, other: Value) -> bool:
    return one.__class__ in _NUMBERS and other.__class__ in _NUMBERS


def _arithmetic(operation: Callable[[Value, Value], Value], one: Value, other: Value) -> Value:
    try:
        return operation(one, other)
    except OverflowError:
        raise EvalError("int too large to convert to float") from None


def add(one: Value, other: Value) -> Value:
    kind = one.__class__
    if kind is other.__class__ and (kind is str or kind is int or kind is tuple):
        return one + other
    if _are_numbers(one, other):
        return _arithmetic(lambda left, right: left + right, one, other)
    if isinstance(one, list) and isinstance(other, list):
        return [*one, *other]
    if isinstance(one, Struct) and isinstance(other, Struct):
        return Struct({**one.fields, **other.fields})
    raise _unknown("+", one, other)


def add_in_place(one: Value, other: Value) -> Value:
    """What `one += other` assigns. A list is extended."""
    if isinstance(one, list) and is_iterable(other):
        check_mutable(one, "apply += to")
        one.extend(list(elements_of(other)))
        return one
    return add(one, other)


def subtract(one: Value, other: Value) -> Value:
    if _are_numbers(one, other):
        return _arithmetic(lambda left, right: left - right, one, other)
    if isinstance(one, Set) and isinstance(other, Set):
        return Set(element for element in one.elements if element not in other.elements)
    raise _unknown("-", one, other)


def multiply(one: Value, other: Value) -> Value:
    if _are_numbers(one, other):
        return _arithmetic(lambda left, right: left * right, one, other)
    for sequence, count in ((one, other), (other, one)):
        if is_int(count) and isinstance(sequence, str | bytes | list | tuple):
            return _repeated(sequence, count)
    raise _unknown("*", one, other)


def _repeated(sequence: Value, count: int) -> Value:
    size = go_strings.length(sequence) if isinstance(sequence, str) else len(sequence)
    if size and not -(1 << 31) <= count < 1 << 31:
        raise EvalError(f"repeat count {count} too large")
    if size * count >= MAX_ELEMENTS:
        raise EvalError(f"excessive repeat ({size} * {count} elements)")
    return list(sequence) * count if isinstance(sequence, list) else sequence * count


def divide(one: Value, other: Value) -> Value:
    if not _are_numbers(one, other):
        raise _unknown("/", one, other)
    if other == 0:
        raise EvalError("floating-point division by zero")
    return _arithmetic(lambda left, right: float(left) / float(right), one, other)


def floor_divide(one: Value, other: Value) -> Value:
    if not _are_numbers(one, other):
        raise _unknown("//", one, other)
    if other == 0:
        raise EvalError("floored division by zero")
    if is_int(one) and is_int(other):
        return one // other
    return _arithmetic(lambda left, right: float(math.floor(float(left) / float(right))), one, other)


def modulo(one: Value, other: Value) -> Value:
    if one.__class__ is str:
        return interpolate(one, other)
    if not _are_numbers(one, other):
        raise _unknown("%", one, other)
    if other == 0:
        kind = "integer" if is_int(one) and is_int(other) else "floating-point"
        raise EvalError(f"{kind} modulo by zero")
    return _arithmetic(lambda left, right: left % right, one, other)


def bit_or(one: Value, other: Value) -> Value:
    if is_int(one) and is_int(other):
        return one | other
    if one.__class__ is dict and other.__class__ is dict:
        return {**one, **other}
    if isinstance(one, Set) and isinstance(other, Set):
        return Set((*one.elements, *other.elements))
    raise _unknown("|", one, other)


def bit_or_in_place(one: Value, other: Value) -> Value:
    """What `one |= other` assigns. A dict or set is updated."""
    if one.__class__ is dict and other.__class__ is dict:
        check_mutable(one, "apply |= to")
        one.update(other)
        return one
    if isinstance(one, Set) and isinstance(other, Set):
        check_mutable(one, "apply |= to")
        one.elements.update(other.elements)
        return one
    return bit_or(one, other)


def bit_and(one: Value, other: Value) -> Value:
    if is_int(one) and is_int(other):
        return one & other
    if isinstance(one, Set) and isinstance(other, Set):
        return Set(element for element in one.elements if element in other.elements)
    raise _unknown("&", one, other)


def bit_xor(one: Value, other: Value) -> Value:
    if is_int(one) and is_int(other):
        return one ^ other
    if isinstance(one, Set) and isinstance(other, Set):
        only_one = [element for element in one.elements if element not in other.elements]
        return Set((*only_one, *(element for element in other.elements if element not in one.elements)))
    raise _unknown("^", one, other)


def shift_left(one: Value, other: Value) -> Value:
    count = _shift_count("<<", one, other)
    if count >= _MAX_SHIFT:
        raise EvalError(f"shift count too large: {count}")
    return one << count


def shift_right(one: Value, other: Value) -> Value:
    return one >> _shift_count(">>", one, other)


def _shift_count(operator: str, one: Value, other: Value) -> int:
    if not is_int(one):
        raise _unknown(operator, one, other)
    count = as_int32(other)
    if count < 0:
        raise EvalError(f"negative shift count: {count}")
    return count


def as_int32(value: Value) -> int:
    """An index or a count."""
    if not is_int(value):
        raise EvalError(f"got {type_name(value)}, want int")
    if not -(1 << 31) <= value < 1 << 31:
        raise EvalError(f"{value} out of range")
    return int(value)


def negate(value: Value) -> Value:
    if is_int(value) or value.__class__ is float:
        return -value
    raise EvalError(f"unknown unary op: - {type_name(value)}")


def plus(value: Value) -> Value:
    if value.__class__ in _NUMBERS:
        return value
    raise EvalError(f"unknown unary op: + {type_name(value)}")


def invert(value: Value) -> Value:
    if is_int(value):
        return ~value
    raise EvalError(f"unknown unary op: ~ {type_name(value)}")
