"""Data as CEL sees it: numbers by their declared type, times and durations as such, escaped names."""

from __future__ import annotations

from typing import Any

from crossply.schema.cel_types import Declared
from crossply.values import Object
from crossply.values.durations import parse_duration


class WrongData(Exception):
    """A value is not of the type its schema declares; expressions cannot be asked about it."""


def to_cel(value: Any, declared: Declared, wrong: dict[str, str]) -> Any:
    """Convert a value for the evaluator; a field that the schema does not declare is left out.

    So is a field whose value is not of its type: `wrong` gets its name and why, so that a rule that asks
    for it can say so, and rules that do not ask are not disturbed.
    """
    if value is None:
        return None
    if declared.kind == "object" and isinstance(value, dict):
        return _object(value, declared, wrong)
    element = declared.element
    if declared.kind == "map" and element and isinstance(value, dict):
        return {name: to_cel(member, element, wrong) for name, member in value.items()}
    if declared.kind == "list" and element and isinstance(value, list):
        return [to_cel(item, element, wrong) for item in value]
    return _scalar(value, declared.kind)


def _object(value: Object, declared: Declared, wrong: dict[str, str]) -> Object:
    result = {}
    for escaped, name, member in declared.fields:
        if name in value:
            try:
                result[escaped] = to_cel(value[name], member, wrong)
            except WrongData as problem:
                wrong[escaped] = str(problem)
    return result


def _scalar(value: Any, kind: str) -> Any:
    if kind == "dyn" or (kind == "string" and isinstance(value, str)):
        return value
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind in ("int", "double") and isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value, kind)
    if isinstance(value, str) and kind in _READERS:
        return _READERS[kind](value)
    raise WrongData(f"invalid data, expected {kind}, got {_go_type(value)}")


def _number(value: float, kind: str) -> float:
    if kind == "double":
        return float(value)
    if isinstance(value, float) and value != int(value):
        raise WrongData("invalid data, expected int, got float64")
    return int(value)


def _go_type(value: Any) -> str:
    from crossply.values.goformat import go_type

    return go_type(value)


def _bytes(value: str) -> bytes:
    from crossply.values.gobase64 import Base64Error, decode

    try:
        return decode(value)
    except Base64Error:
        raise WrongData(f"error decoding base64 string {value}") from None


def _timestamp(value: str) -> Any:
    from google.protobuf.timestamp_pb2 import Timestamp

    result = Timestamp()
    try:
        result.FromJsonString(value.upper() if "T" in value.upper() else f"{value}T00:00:00Z")
    except ValueError:
        raise WrongData(f"invalid date, expected an RFC 3339 time, got {value}") from None
    return result


def _duration(value: str) -> Any:
    from google.protobuf.duration_pb2 import Duration

    try:
        nanoseconds = parse_duration(value)
    except ValueError:
        raise WrongData(f"invalid duration string, expected duration, got {value}") from None
    result = Duration()
    result.FromNanoseconds(nanoseconds)
    return result


_READERS = {"bytes": _bytes, "timestamp": _timestamp, "duration": _duration}
