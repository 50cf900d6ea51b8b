"""Convert transforms: the same value as another type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import Failure, failing
from crossply.functions.builtin.patch_and_transform.field_errors import FieldError
from crossply.functions.builtin.patch_and_transform.transform_validation import validate_convert
from crossply.functions.builtin.patch_and_transform.transforms.arithmetic import truncated
from crossply.values import Object, gojson
from crossply.values.gonumbers import format_float, parse_bool, parse_float, parse_int
from crossply.values.gotypes import go_type
from crossply.values.structs import to_wire

Change = Callable[[Any], Any]

_INPUT_TYPES = {str: "string", bool: "bool", int: "int64", float: "float64"}


def convert_transform(settings: Object, _dialect: Dialect) -> Change:
    """Make the closure of a convert transform."""
    try:
        validate_convert(settings, "")
    except FieldError as reason:
        return failing(str(reason))
    to = "int64" if settings["toType"] == "int" else settings["toType"]
    return _conversion(to, settings.get("format", "none"))


def _conversion(to: str, form: str) -> Change:
    def convert(value: Any) -> Any:
        origin = _INPUT_TYPES.get(type(value))
        if origin is None:
            raise Failure(f"invalid input type {go_type(value)}")
        if origin == to:
            return value
        known = _CONVERSIONS.get((origin, to, form))
        if known is None:
            raise Failure(f"conversion from {origin} to {to} is not supported with format {form}")
        return known(value)

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


_CONVERSIONS: dict[tuple[str, str, str], Change] = {
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
