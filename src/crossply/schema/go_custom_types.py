"""Kubernetes' Go types with their own UnmarshalJSON: times, quantities, ports, schemas.

The part of `go_decode_errors` that a table of fields cannot describe. Each reader accepts what the Go type
accepts and fails with its sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crossply.errors import CrossplyError
from crossply.kinds.gostructs import json_kind


class UnmarshalFailed(CrossplyError):
    """A Go type with its own decoder refused a value."""

    code = "CP-440"

    def with_place(self, place: str) -> str:
        """Return the sentence with the struct field that was read, where the sentence leaves room for it."""
        return str(self).replace("{place}", place)


def unmarshal(type_name: str, value: Any) -> None:
    """Read a value into a named type; raises UnmarshalFailed."""
    reader = _READERS.get(type_name.rstrip("#"))
    if reader:
        reader(value)


def _mismatch(value: Any, go_type: str) -> UnmarshalFailed:
    return UnmarshalFailed(f"json: cannot unmarshal {json_kind(value)} into {{place}} of type {go_type}")


def _time(layout: str) -> Callable[[Any], None]:
    def read(value: Any) -> None:
        if not isinstance(value, str):
            raise _mismatch(value, "string")
        from crossply.values.timestamps import parse_problem

        problem = parse_problem(value, layout)
        if problem:
            raise UnmarshalFailed(problem)

    return read


def _quantity(value: Any) -> None:
    from crossply.values import gojson, quantity

    text = value if isinstance(value, str) else gojson.dumps(value)
    try:
        quantity.parse(text.strip())
    except CrossplyError as problem:
        raise UnmarshalFailed(str(problem)) from None


def _int_or_string(value: Any) -> None:
    if isinstance(value, str):
        return
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value == int(value) and -(2**31) <= value < 2**31:
            return
        from crossply.values.gojson import dumps

        raise UnmarshalFailed(f"json: cannot unmarshal number {dumps(value)} into {{place}} of type int32")
    raise _mismatch(value, "int32")


_READERS: dict[str, Callable[[Any], None]] = {
    "intstr.IntOrString": _int_or_string,
    "resource.Quantity": _quantity,
    "v1.Time": _time("2006-01-02T15:04:05Z07:00"),
    "v1.MicroTime": _time("2006-01-02T15:04:05.000000Z07:00"),
}
