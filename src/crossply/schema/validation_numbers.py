"""The checks of a number: what its type can hold, multipleOf, minimum and maximum.

An integer is compared with integers and a float with floats: a bound of 3.5 counts as 3 for an integer,
and a float is a multiple when the quotient is whole within a tolerance.
"""

from __future__ import annotations

import math

from crossply.schema.field_errors import INVALID, FieldError, shown_number
from crossply.schema.single_value_validation import Result, is_integral, types_of
from crossply.values import Object


def check_number(result: Result, value: float, schema: Object, path: str) -> None:
    """Check a number against every number keyword of a schema."""
    _check_range(result, value, schema, path, "Checked")
    factor, lowest, highest = schema.get("multipleOf"), schema.get("minimum"), schema.get("maximum")
    if factor is not None:
        value_, factor_ = _comparable(result, value, factor, schema, path, "MultipleOf")
        _check_multiple(result, value_, factor_, path)
    if lowest is not None:
        value_, lowest = _comparable(result, value, lowest, schema, path, "Minimum boundary")
        _check_minimum(result, value_, lowest, bool(schema.get("exclusiveMinimum")), path)
    if highest is not None:
        value_, highest = _comparable(result, value, highest, schema, path, "Maximum boundary")
        _check_maximum(result, value_, highest, bool(schema.get("exclusiveMaximum")), path)
    result.matches += 1


def _comparable(
    result: Result, value: float, bound: float, schema: Object, path: str, bound_name: str
) -> tuple[float, float]:
    """Return a value and a bound of the same kind; a bound that its type cannot hold is reported."""
    fits = _check_range(result, float(bound), schema, path, bound_name)
    if isinstance(value, int) and fits:
        return value, int(bound)
    return float(value), float(bound)


def _check_range(result: Result, value: float, schema: Object, path: str, value_name: str) -> bool:
    if types_of(schema) != ("integer",):
        return True
    small = schema.get("format") == "int32"
    if _fits_integer(value, 31 if small else 63):
        return True
    range_text = "with format int32" if small else "(default format)"
    result.complain(f"{value_name} value must be of type integer {range_text} in {path}")
    return False


def _fits_integer(value: float, bits: int) -> bool:
    if isinstance(value, float) and (not math.isfinite(value) or value != math.trunc(value)):
        return False
    limit = 1 << bits
    return -limit <= int(value) < limit


def _check_multiple(result: Result, value: float, factor: float, path: str) -> None:
    if factor <= 0:
        sentence = f"factor MultipleOf declared for {path} must be positive: {shown_number(factor)}"
        result.add(FieldError(INVALID, path, factor, sentence), sentence)
    elif not _is_multiple(value, factor):
        _report(result, path, value, "should be a multiple of", factor)


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int):
        return value % factor == 0
    return is_integral(1 / factor * value if factor < 1 else value / factor)


def _check_minimum(result: Result, value: float, bound: float, exclusive: bool, path: str) -> None:
    if value < bound or (exclusive and value == bound):
        _report(result, path, value, f"should be greater than{_or_equal(exclusive)}", bound)


def _check_maximum(result: Result, value: float, bound: float, exclusive: bool, path: str) -> None:
    if value > bound or (exclusive and value == bound):
        _report(result, path, value, f"should be less than{_or_equal(exclusive)}", bound)


def _or_equal(exclusive: bool) -> str:
    return "" if exclusive else " or equal to"


def _report(result: Result, path: str, value: float, relation: str, bound: float) -> None:
    sentence = f"{path} in body {relation} {shown_number(bound)}"
    result.add(FieldError(INVALID, path, value, sentence), sentence)
