"""A strict decoder of a step's input: unknown fields and wrong types are errors, worded as Go's decoder does.

The result is a new object without null fields and with whole numbers as integers. The other modules rely on
its types.
"""

from __future__ import annotations

from typing import Any

from crossply.values import Object
from crossply.values.gojson import dumps
from crossply.values.goquote import quote


class DecodeError(Exception):
    """The input does not match its schema; the message is that of Go's decoder."""


class String:
    """A string, or a named type made of one."""

    __slots__ = ("go_type",)

    def __init__(self, go_type: str = "string") -> None:
        self.go_type = go_type


class Integer(String):
    """An integer."""

    __slots__ = ()


class Boolean(String):
    """A boolean."""

    __slots__ = ()


class FreeMap(String):
    """Any values by key. Null values are kept."""

    __slots__ = ()


class AnyValue:
    """Any JSON value, unchanged."""

    __slots__ = ()


class Struct:
    """An object with known fields. Other fields are an error, or dropped when it is open."""

    __slots__ = ("fields", "go_type", "is_open")

    def __init__(self, go_type: str, fields: dict[str, FieldType], *, is_open: bool = False) -> None:
        self.go_type = go_type
        self.fields = fields
        self.is_open = is_open


class ListOf:
    """A list of objects."""

    __slots__ = ("item",)

    def __init__(self, item: Struct) -> None:
        self.item = item


FieldType = String | AnyValue | Struct | ListOf

_TYPES: dict[type, type] = {String: str, Boolean: bool, FreeMap: dict}
_KINDS = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}


def decode(value: Any, field_type: FieldType) -> Any:
    if isinstance(field_type, Struct):
        return _struct(value, field_type)
    if isinstance(field_type, ListOf):
        return _list(value, field_type)
    if isinstance(field_type, AnyValue):
        return value
    if isinstance(field_type, Integer):
        return _integer(value, field_type)
    return _typed(value, _TYPES[type(field_type)], field_type.go_type)


def _struct(value: Any, field_type: Struct) -> Object:
    fields = _typed(value, dict, field_type.go_type)
    decoded: Object = {}
    # Go reads the keys in their order and stops at the first error.
    for key in sorted(fields):
        inner = field_type.fields.get(key)
        if inner is not None:
            if fields[key] is not None:
                decoded[key] = decode(fields[key], inner)
        elif not field_type.is_open:
            raise DecodeError(
                f"json: cannot unmarshal Go value of type {field_type.go_type}: unknown name {quote(key)}"
            )
    return decoded


def _list(value: Any, field_type: ListOf) -> list[Object]:
    items = _typed(value, list, f"[]{field_type.item.go_type}")
    return [{} if item is None else _struct(item, field_type.item) for item in items]


def _typed(value: Any, kind: type, go_type: str) -> Any:
    if type(value) is not kind:
        raise DecodeError(
            f"json: cannot unmarshal JSON {_KINDS[type(value)]} into Go value of type {go_type}"
        )
    return value


def _integer(value: Any, field_type: Integer) -> int:
    if type(value) is int:
        return value
    number: float = _typed(value, float, field_type.go_type)
    if not number.is_integer():
        raise _not_integer(number, field_type, "invalid syntax")
    if abs(number) >= 1e21:  # encoded with an exponent, which Go refuses in an integer
        raise _not_integer(number, field_type, "invalid syntax")
    if not -(2.0**63) <= number < 2.0**63:
        raise _not_integer(number, field_type, "value out of range")
    return int(number)


def _not_integer(number: float, field_type: Integer, problem: str) -> DecodeError:
    written = quote(dumps(number))
    return DecodeError(
        f"json: cannot unmarshal JSON number into Go value of type {field_type.go_type}: "
        f"cannot parse {written} as signed integer: {problem}"
    )
