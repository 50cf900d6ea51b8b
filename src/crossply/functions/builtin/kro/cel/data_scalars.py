"""Texts, numbers and booleans of objects as the values that their schemas say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.functions.builtin.kro.cel.times import read_date, read_period, read_time
from crossply.functions.builtin.kro.cel.values import EvaluationError, Timestamp
from crossply.values import Object
from crossply.values.gobase64 import Base64Error, decode
from crossply.values.gotypes import go_type


def _wrong(expected: str, raw: Any) -> EvaluationError:
    return EvaluationError(f"invalid data, expected {expected}, got {go_type(raw)}")


def int_or_string(raw: Any) -> Any:
    if isinstance(raw, str) or (isinstance(raw, int) and not isinstance(raw, bool)):
        return raw
    raise EvaluationError("invalid data, expected XIntOrString value to be either a string or integer")


def _string(raw: Any, schema: Object) -> Any:
    if not isinstance(raw, str):
        raise _wrong("string", raw)
    reader = _FORMATS.get(schema.get("format") or "")
    return raw if reader is None else reader(raw)


def _number(raw: Any, _: Object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _wrong("float", raw)
    return float(raw)


def _integer(raw: Any, _: Object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise _wrong("int", raw)
    return raw


def _boolean(raw: Any, _: Object) -> bool:
    if not isinstance(raw, bool):
        raise _wrong("bool", raw)
    return raw


def _date_time(text: str) -> Timestamp:
    try:
        return read_time(text, needs_zone=False) if text else Timestamp(0)
    except ValueError:
        raise EvaluationError(f"Invalid date-time formatted string {text}") from None


def _date(text: str) -> Any:
    try:
        return read_date(text)
    except ValueError:
        raise EvaluationError(f"Invalid date formatted string {text}") from None


def _duration(text: str) -> Any:
    try:
        return read_period(text)
    except ValueError:
        raise EvaluationError(f"Invalid duration {text}: unable to parse {text} as duration") from None


def _bytes(text: str) -> bytes:
    try:
        return decode(text)
    except Base64Error as error:
        raise EvaluationError(f"Invalid byte formatted string {text}: {error}") from None


_FORMATS: dict[str, Callable[[str], Any]] = {
    "duration": _duration,
    "date": _date,
    "date-time": _date_time,
    "byte": _bytes,
}
SCALAR_READERS: dict[str, Callable[[Any, Object], Any]] = {
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
}
