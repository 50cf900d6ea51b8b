"""Math transforms: multiply, and keep within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import Failure, failing
from crossply.functions.builtin.patch_and_transform.field_errors import FieldError
from crossply.functions.builtin.patch_and_transform.transform_validation import validate_math
from crossply.values import Object
from crossply.values.gotypes import go_type

Change = Callable[[Any], Any]


def math_transform(settings: Object, _dialect: Dialect) -> Change:
    """Make the closure of a math transform."""
    try:
        validate_math(settings, "")
    except FieldError as reason:
        return failing(str(reason))
    if settings["type"] == "Multiply":
        return _multiply(settings["multiply"])
    if settings["type"] == "ClampMin":
        return _at_least(settings["clampMin"])
    return _at_most(settings["clampMax"])


def _multiply(factor: int) -> Change:
    def multiply(value: Any) -> Any:
        if type(value) is float:
            return value * factor
        return as_int64(_number(value) * factor)

    return multiply


def _at_least(bound: int) -> Change:
    # The value is compared without its fraction; it keeps its type unless the bound replaces it.
    def clamp(value: Any) -> Any:
        return bound if truncated(_number(value)) < bound else value

    return clamp


def _at_most(bound: int) -> Change:
    def clamp(value: Any) -> Any:
        return bound if truncated(_number(value)) > bound else value

    return clamp


def _number(value: Any) -> Any:
    if type(value) is float or type(value) is int:
        return value
    raise Failure(f"input is required to be a number for math transformer, got {go_type(value)}")


def as_int64(number: int) -> int:
    """Wrap an integer around as 64 bits do."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def truncated(number: float) -> int:
    """Drop the fraction. What does not fit an int64 becomes the smallest one, as on common processors."""
    if -(2.0**63) <= number < 2.0**63:
        return int(number)
    return -(1 << 63)
