"""Reading a step's input strictly: unknown fields and wrong types are errors, in the words of Go's decoder.

The result is new: fields that are null are gone (a null is as good as nothing there), whole numbers are
integers. After this the rest of the room can rely on types.
"""

from __future__ import annotations

from typing import Any

from crossply.values import Object
from crossply.values.gojson import dumps
from crossply.values.goquote import quote


class DecodeError(Exception):
    """The input does not have the shape it must have; the message is the decoder's."""


class Text:
    """A string, or a named type made of one."""

    __slots__ = ("go_type",)

    def __init__(self, go_type: str = "string") -> None:
        self.go_type = go_type


class Whole(Text):
    """An integer."""

    __slots__ = ()


class Flag(Text):
    """A boolean."""

    __slots__ = ()


class Pairs(Text):
    """Any values by key. Nulls are kept: the key is there, its value is not."""

    __slots__ = ()


class Anything:
    """Any JSON value, kept as it is."""

    __slots__ = ()


class Struct:
    """An object with known fields. When it is open, other fields are left out instead of refused."""

    __slots__ = ("fields", "go_type", "is_open")

    def __init__(self, go_type: str, fields: dict[str, Shape], *, is_open: bool = False) -> None:
        self.go_type = go_type
        self.fields = fields
        self.is_open = is_open


class Items:
    """A list of objects."""

    __slots__ = ("item",)

    def __init__(self, item: Struct) -> None:
        self.item = item


Shape = Text | Anything | Struct | Items

_TYPES: dict[type, type] = {Text: str, Flag: bool, Pairs: dict}
_KINDS = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}


def decode(value: Any, shape: Shape) -> Any:
    """Read a value that must have the shape."""
    if isinstance(shape, Struct):
        return _struct(value, shape)
    if isinstance(shape, Items):
        return _items(value, shape)
    if isinstance(shape, Anything):
        return value
    if isinstance(shape, Whole):
        return _whole(value, shape)
    return _plain(value, _TYPES[type(shape)], shape.go_type)


def _struct(value: Any, shape: Struct) -> Object:
    fields = _plain(value, dict, shape.go_type)
    known: Object = {}
    # The decoder reads the keys in their order and stops at the first mistake.
    for key in sorted(fields):
        inner = shape.fields.get(key)
        if inner is not None:
            if fields[key] is not None:
                known[key] = decode(fields[key], inner)
        elif not shape.is_open:
            raise DecodeError(
                f"json: cannot unmarshal Go value of type {shape.go_type}: unknown name {quote(key)}"
            )
    return known


def _items(value: Any, shape: Items) -> list[Object]:
    items = _plain(value, list, f"[]{shape.item.go_type}")
    return [{} if item is None else _struct(item, shape.item) for item in items]


def _plain(value: Any, kind: type, go_type: str) -> Any:
    if type(value) is not kind:
        raise DecodeError(
            f"json: cannot unmarshal JSON {_KINDS[type(value)]} into Go value of type {go_type}"
        )
    return value


def _whole(value: Any, shape: Whole) -> int:
    if type(value) is int:
        return value
    number: float = _plain(value, float, shape.go_type)
    if not number.is_integer():
        raise _not_whole(number, shape, "invalid syntax")
    if abs(number) >= 1e21:  # written with an exponent, which an integer must not have
        raise _not_whole(number, shape, "invalid syntax")
    if not -(2.0**63) <= number < 2.0**63:
        raise _not_whole(number, shape, "value out of range")
    return int(number)


def _not_whole(number: float, shape: Whole, problem: str) -> DecodeError:
    written = quote(dumps(number))
    return DecodeError(
        f"json: cannot unmarshal JSON number into Go value of type {shape.go_type}: "
        f"cannot parse {written} as signed integer: {problem}"
    )
