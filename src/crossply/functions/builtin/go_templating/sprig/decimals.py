"""addf, subf, mulf and divf, with exact decimals: 0.1 plus 0.2 is 0.3.

A decimal is `digits * 10**exponent`. Only division rounds, after sixteen decimals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig.casting import to_float64
from crossply.values.gonumbers import format_float, shortest_digits

_DECIMALS = 16


class _Decimal(NamedTuple):
    digits: int
    exponent: int


def add1f(value: Any) -> float:
    """One more."""
    return _calculated(_add, value, [1])


def addf(*values: Any) -> float:
    """The sum."""
    return _calculated(_add, 0, values)


def subf(first: Any, *others: Any) -> float:
    """The first less the others."""
    return _calculated(_subtract, first, others)


def mulf(first: Any, *others: Any) -> float:
    """The product."""
    return _calculated(_multiply, first, others)


def divf(first: Any, *others: Any) -> float:
    """The first divided by the others, one after the other."""
    return _calculated(_divide, first, others)


def _calculated(
    operation: Callable[[_Decimal, _Decimal], _Decimal], first: Any, others: Iterable[Any]
) -> float:
    result = _decimal(to_float64(first))
    for other in others:
        result = operation(result, _decimal(to_float64(other)))
    return _to_float(result)


def _decimal(number: float) -> _Decimal:
    if not math.isfinite(number):
        raise FunctionFailed(f"Cannot create a Decimal from {format_float(number, 'g', -1)}")
    sign, digits, point = shortest_digits(number)
    if digits == "0":
        return _Decimal(0, 0)
    return _Decimal(int(sign + digits), point - len(digits))


def _to_float(number: _Decimal) -> float:
    try:
        if number.exponent >= 0:
            return float(number.digits * _power(number.exponent))
        return number.digits / _power(-number.exponent)
    except OverflowError:
        return math.copysign(math.inf, number.digits)


def _power(exponent: int) -> int:
    power: int = 10**exponent
    return power


def _add(first: _Decimal, other: _Decimal) -> _Decimal:
    exponent = min(first.exponent, other.exponent)
    return _Decimal(_scaled(first, exponent) + _scaled(other, exponent), exponent)


def _subtract(first: _Decimal, other: _Decimal) -> _Decimal:
    return _add(first, _Decimal(-other.digits, other.exponent))


def _scaled(number: _Decimal, exponent: int) -> int:
    """The digits that number has with a smaller exponent."""
    return number.digits * _power(number.exponent - exponent)


def _multiply(first: _Decimal, other: _Decimal) -> _Decimal:
    return _Decimal(first.digits * other.digits, first.exponent + other.exponent)


def _divide(first: _Decimal, other: _Decimal) -> _Decimal:
    if other.digits == 0:
        raise FunctionFailed("decimal division by 0")
    shift = first.exponent - other.exponent + _DECIMALS
    numerator = abs(first.digits) * _power(max(shift, 0))
    denominator = abs(other.digits) * _power(max(-shift, 0))
    quotient, remainder = divmod(numerator, denominator)
    if 2 * remainder >= denominator:
        quotient += 1
    negative = (first.digits < 0) != (other.digits < 0)
    return _Decimal(-quotient if negative else quotient, -_DECIMALS)
