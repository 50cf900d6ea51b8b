"""Integer arithmetic, which wraps around like int64, and float arithmetic."""

from __future__ import annotations

import math
from typing import Any

from crossply.functions.builtin.go_templating.engine.go_types import Int64, Ints
from crossply.functions.builtin.go_templating.engine.limits import check_items
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig.casting import (
    INT64_MAX,
    parse_clipped,
    sprint,
    to_float64,
    to_int64,
    wrap64,
)


def atoi(text: str) -> int:
    """Read a decimal integer; zero when it is none."""
    return parse_clipped(text)


def int64(value: Any) -> Int64:
    """Convert to int64."""
    return Int64(to_int64(value))


def to_decimal(value: Any) -> Int64:
    """Read the value's text as an octal number."""
    number = parse_clipped(sprint(value), 8)
    # What does not fit is an error there, which counts as zero.
    return Int64(0 if abs(number) >= INT64_MAX else number)


def add1(value: Any) -> Int64:
    """One more."""
    return Int64(wrap64(to_int64(value) + 1))


def add(*values: Any) -> Int64:
    """The sum."""
    return Int64(wrap64(sum(map(to_int64, values))))


def sub(first: Any, other: Any) -> Int64:
    """The difference."""
    return Int64(wrap64(to_int64(first) - to_int64(other)))


def mul(first: Any, *others: Any) -> Int64:
    """The product."""
    product = to_int64(first)
    for other in others:
        product = wrap64(product * to_int64(other))
    return Int64(product)


def div(first: Any, other: Any) -> Int64:
    """The quotient, cut towards zero."""
    quotient, _ = _divided(to_int64(first), to_int64(other))
    return Int64(wrap64(quotient))


def mod(first: Any, other: Any) -> Int64:
    """The remainder, with the sign of the dividend."""
    _, remainder = _divided(to_int64(first), to_int64(other))
    return Int64(remainder)


def _divided(dividend: int, other: int) -> tuple[int, int]:
    if other == 0:
        raise FunctionFailed("runtime error: integer divide by zero")
    quotient, remainder = divmod(abs(dividend), abs(other))
    negative = (dividend < 0) != (other < 0)
    return (-quotient if negative else quotient), (-remainder if dividend < 0 else remainder)


def maximum(first: Any, *others: Any) -> Int64:
    """The largest integer."""
    return Int64(max(map(to_int64, (first, *others))))


def minimum(first: Any, *others: Any) -> Int64:
    """The smallest integer."""
    return Int64(min(map(to_int64, (first, *others))))


def maxf(first: Any, *others: Any) -> float:
    """The largest float; NaN wins, except over infinity."""
    largest = to_float64(first)
    for other in others:
        largest = _outermost(largest, to_float64(other), 1.0)
    return largest


def minf(first: Any, *others: Any) -> float:
    """The smallest float; NaN wins, except over infinity."""
    smallest = to_float64(first)
    for other in others:
        smallest = _outermost(smallest, to_float64(other), -1.0)
    return smallest


def _outermost(first: float, other: float, direction: float) -> float:
    end = math.inf * direction
    if end in (first, other):
        return end
    if first != first or other != other:
        return math.nan
    if first == other == 0:
        return first if math.copysign(1.0, first) == direction else other
    return first if (first > other) == (direction > 0) else other


def floor(value: Any) -> float:
    """The next integer below, as a float."""
    number = to_float64(value)
    return _integral(number, math.floor)


def ceil(value: Any) -> float:
    """The next integer above, as a float."""
    number = to_float64(value)
    return _integral(number, math.ceil)


def _integral(number: float, rounding: Any) -> float:
    if not math.isfinite(number):
        return number
    # Zero keeps its sign: the ceiling of -0.5 is -0.
    return math.copysign(float(rounding(number)), number)


def rounded(value: Any, places: int, *threshold: float) -> float:
    """Round to places; a fraction from the threshold on, usually one half, goes up."""
    scale = _power_of_ten(places)
    scaled = scale * to_float64(value)
    if not math.isfinite(scaled):
        return _quotient(scaled, scale)
    rounds_up = math.modf(scaled)[0] >= (threshold[0] if threshold else 0.5)
    integral = _integral(scaled, math.ceil if rounds_up else math.floor)
    return _quotient(integral, scale)


def _power_of_ten(places: int) -> float:
    if places > 308:
        return math.inf
    return float(f"1e{places}") if places >= -323 else 0.0


def _quotient(dividend: float, other: float) -> float:
    if other:
        return dividend / other
    return math.nan if dividend == 0 or dividend != dividend else math.copysign(math.inf, dividend)


def until(count: int) -> Ints:
    """The integers from zero up, or down, to count, without it."""
    return until_step(0, count, -1 if count < 0 else 1)


def until_step(start: int, stop: int, step: int) -> Ints:
    """The integers from start to stop, without it; none when the step leads away."""
    if (stop < start) != (step < 0) or step == 0:
        return Ints()
    numbers = range(start, stop, step)
    check_items(_length(numbers))
    return Ints(numbers)


def _length(numbers: range) -> int:
    # len() refuses what does not fit a machine word.
    return abs(numbers.stop - numbers.start) // abs(numbers.step)


def seq(*bounds: int) -> str:
    """The integers from the first to the last bound, both included, as a text; three bounds have a step."""
    if len(bounds) == 1:
        return _sequence(1, bounds[0], -1 if bounds[0] < 1 else 1)
    if len(bounds) == 2:
        return _sequence(bounds[0], bounds[1], -1 if bounds[1] < bounds[0] else 1)
    if len(bounds) == 3:
        start, step, end = bounds
        return "" if end < start and step > 0 else _sequence(start, end, step)
    return ""


def _sequence(start: int, end: int, step: int) -> str:
    beyond = end - 1 if end < start else end + 1
    return " ".join(map(str, until_step(start, beyond, step)))
