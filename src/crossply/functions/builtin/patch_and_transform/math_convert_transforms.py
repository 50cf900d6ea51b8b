"""Math transforms (multiply, clamp) and convert transforms (the same value as another type)."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.patch_and_transform.dialect import Dialect, Transform
from crossply.functions.builtin.patch_and_transform.errors import Failure, FieldError, fail_with
from crossply.functions.builtin.patch_and_transform.transform_validation import (
    validate_convert,
    validate_math,
)
from crossply.values import Object, gojson
from crossply.values.go_type_names import go_type
from crossply.values.gonumbers import format_float, parse_bool, parse_float, parse_int
from crossply.values.protobuf_struct import to_wire

_INPUT_TYPES = {str: "string", bool: "bool", int: "int64", float: "float64"}


def math_transform(settings: Object, _dialect: Dialect) -> Transform:
    try:
        validate_math(settings, "")
    except FieldError as error:
        return fail_with(str(error))
    if settings["type"] == "Multiply":
        return _multiply(settings["multiply"])
    if settings["type"] == "ClampMin":
        return _at_least(settings["clampMin"])
    return _at_most(settings["clampMax"])


def _multiply(factor: int) -> Transform:
    def multiply(value: Any) -> Any:
        if type(value) is float:
            return value * factor
        return as_int64(_number(value) * factor)

    return multiply


def _at_least(bound: int) -> Transform:
    # The value is compared without its fraction; it keeps its type unless the bound replaces it.
    def clamp(value: Any) -> Any:
        return bound if truncated(_number(value)) < bound else value

    return clamp


def _at_most(bound: int) -> Transform:
    def clamp(value: Any) -> Any:
        return bound if truncated(_number(value)) > bound else value

    return clamp


def _number(value: Any) -> Any:
    if type(value) is float or type(value) is int:
        return value
    raise Failure(f"input is required to be a number for math transformer, got {go_type(value)}")


def as_int64(number: int) -> int:
    """Wrap an integer around like an int64 overflow."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def truncated(number: float) -> int:
    """Drop the fraction. A number outside of int64 becomes the smallest int64, as Go does on amd64."""
    if -(2.0**63) <= number < 2.0**63:
        return int(number)
    return -(1 << 63)


def convert_transform(settings: Object, _dialect: Dialect) -> Transform:
    try:
        validate_convert(settings, "")
    except FieldError as error:
        return fail_with(str(error))
    to = "int64" if settings["toType"] == "int" else settings["toType"]
    return _conversion(to, settings.get("format", "none"))


def _conversion(to: str, form: str) -> Transform:
    def convert(value: Any) -> Any:
        origin = _INPUT_TYPES.get(type(value))
        if origin is None:
            raise Failure(f"invalid input type {go_type(value)}")
        if origin == to:
            return value
        decoded = _CONVERSIONS.get((origin, to, form))
        if decoded is None:
            raise Failure(f"conversion from {origin} to {to} is not supported with format {form}")
        return decoded(value)

    return convert


def _quantity(text: str) -> float:
    from crossply.values import quantity

    return quantity.parse(text).as_float()


def _json_object(text: str) -> Any:
    return _json(text, dict, "map[string]interface {}")


def _json_array(text: str) -> Any:
    return _json(text, list, "[]interface {}")


def _json(text: str, kind: type, go_name: str) -> Any:
    value = gojson.loads(text)
    if value is not None and type(value) is not kind:
        raise Failure(f"json: cannot unmarshal {_json_kind(value)} into Go value of type {go_name}")
    try:
        return to_wire(value)
    except OverflowError:
        raise Failure("json: cannot unmarshal number into Go value of type float64") from None


def _json_kind(value: Any) -> str:
    kinds = {str: "string", bool: "bool", int: "number", float: "number", dict: "object", list: "array"}
    return kinds[type(value)]


_CONVERSIONS: dict[tuple[str, str, str], Transform] = {
    ("string", "int64", "none"): parse_int,
    ("string", "float64", "none"): parse_float,
    ("string", "bool", "none"): parse_bool,
    ("string", "float64", "quantity"): _quantity,
    ("string", "object", "json"): _json_object,
    ("string", "array", "json"): _json_array,
    ("int64", "string", "none"): str,
    ("int64", "float64", "none"): float,
    ("int64", "bool", "none"): lambda number: number == 1,
    ("float64", "string", "none"): lambda number: format_float(number, "f", -1),
    ("float64", "int64", "none"): truncated,
    ("float64", "bool", "none"): lambda number: number == 1.0,
    ("bool", "string", "none"): lambda flag: "true" if flag else "false",
    ("bool", "int64", "none"): int,
    ("bool", "float64", "none"): float,
}
