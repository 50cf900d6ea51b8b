"""Conversions between types: `string(1)`, `int("2")`, `timestamp("2024-01-01T00:00:00Z")`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.kro.cel.times import (
    FIRST_SECOND,
    LAST_SECOND,
    read_time,
    time_text,
)
from crossply.functions.builtin.kro.cel.values import (
    Duration,
    EvaluationError,
    NoSuchOverload,
    Timestamp,
    TypeValue,
    UInt,
    size_of,
    type_name,
)
from crossply.values.durations import parse_duration
from crossply.values.gonumbers import NumberError, format_float, parse_bool, parse_float, parse_int

_INT64 = 2**63
_UINT64 = 2**64
_SECOND = 10**9


def _misfit(value: Any, target: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{type_name(value)}' to '{target}'")


def to_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return format_float(value, "g", -1)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, Timestamp):
        return time_text(value)
    if isinstance(value, Duration):
        return seconds_text(value)
    raise NoSuchOverload


def seconds_text(duration: Duration) -> str:
    """A duration in seconds, as CEL writes it: 90.5s."""
    return format_float(duration.nanoseconds / _SECOND, "f", -1) + "s"


def to_int(value: Any) -> int:
    if isinstance(value, bool):
        raise NoSuchOverload
    if isinstance(value, int):
        return _in_range(int(value))
    if isinstance(value, float):
        if math.isnan(value) or not -_INT64 < value < _INT64:
            raise EvaluationError("integer overflow")
        return int(value)
    if isinstance(value, str):
        try:
            return parse_int(value)
        except NumberError:
            raise _misfit(value, "int") from None
    if isinstance(value, Timestamp):
        return value.nanoseconds // _SECOND
    if isinstance(value, Duration):
        return value.nanoseconds
    raise NoSuchOverload


def _in_range(number: int) -> int:
    if not -_INT64 <= number < _INT64:
        raise EvaluationError("integer overflow")
    return number


def to_uint(value: Any) -> UInt:
    if isinstance(value, bool):
        raise NoSuchOverload
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit()) or len(value) > 20 or int(value) >= _UINT64:
            raise _misfit(value, "uint")
        return UInt(value)
    if isinstance(value, int | float):
        if isinstance(value, float) and not math.isfinite(value):
            raise EvaluationError("unsigned integer overflow")
        number = int(value)
        if not 0 <= number < _UINT64 or value < 0:
            raise EvaluationError("unsigned integer overflow")
        return UInt(number)
    raise NoSuchOverload


def to_double(value: Any) -> float:
    if isinstance(value, bool):
        raise NoSuchOverload
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return parse_float(value)
        except NumberError:
            raise _misfit(value, "double") from None
    raise NoSuchOverload


def to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return parse_bool(value)
        except NumberError:
            raise _misfit(value, "bool") from None
    raise NoSuchOverload


def to_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    raise NoSuchOverload


def to_duration(value: Any) -> Duration:
    if isinstance(value, Duration):
        return value
    if isinstance(value, str):
        try:
            return Duration(parse_duration(value))
        except ValueError:
            raise _misfit(value, "google.protobuf.Duration") from None
    raise NoSuchOverload


def to_timestamp(value: Any) -> Timestamp:
    if isinstance(value, Timestamp):
        return value
    if type(value) is int:
        if not FIRST_SECOND <= value <= LAST_SECOND:
            raise EvaluationError("timestamp overflow")
        return Timestamp(value * _SECOND)
    if isinstance(value, str):
        try:
            return read_time(value)
        except ValueError:
            raise _misfit(value, "google.protobuf.Timestamp") from None
    raise NoSuchOverload


CONVERSIONS: dict[str, Callable[..., Any]] = {
    "string": to_string,
    "int": to_int,
    "uint": to_uint,
    "double": to_double,
    "bool": to_bool,
    "bytes": to_bytes,
    "duration": to_duration,
    "timestamp": to_timestamp,
    "dyn": lambda value: value,
    "type": lambda value: TypeValue(type_name(value)),
    "size": size_of,
}
