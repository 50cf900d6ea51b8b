"""One field of an encoded Struct, without reading what is around it."""

from __future__ import annotations

from struct import error
from typing import Any

from crossply.values.protobuf_struct import (
    StructError,
    decode_struct,
    decode_value,
    read_chunk,
    skip_field,
    varint,
)

_STRUCT = 0x2A


def peek(data: bytes, *keys: str) -> Any:
    """The value at nested keys, every number a float; None where there is none.

    Encoders write keys before their values. Other orders are allowed: then the whole Struct is decoded.
    """
    at, end = 0, len(data)
    try:
        for depth, key in enumerate(keys):
            place = _find(data, at, end, key.encode())
            if place is None:
                return None
            at, end = place
            if depth < len(keys) - 1:
                if at == end or data[at] != _STRUCT:
                    return None
                at, end = read_chunk(data, at + 1, end)
        return decode_value(data, at, end, len(keys))
    except (IndexError, UnicodeDecodeError, error, _AnotherOrder):
        return _walk(decode_struct(data), keys)


class _AnotherOrder(Exception):
    """A value comes before its key."""


def _find(data: bytes, at: int, end: int, key: bytes) -> tuple[int, int] | None:
    """Where the value of a key begins and ends; of several, the last counts."""
    value = None
    head = b"\x0a" + varint(len(key)) + key
    while at < end:
        if data[at] != 0x0A:
            at = skip_field(data, at + 1, end, data[at] & 7)
            continue
        start, at = read_chunk(data, at + 1, end)
        if data.startswith(head, start):
            value = _value(data, start + len(head), at)
        elif data[start] != 0x0A:
            raise _AnotherOrder
    if at > end:
        raise StructError("a field ends behind its message")
    return value


def _value(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The value of an entry, which is all that comes after its key."""
    if at >= end or data[at] != 0x12:
        raise _AnotherOrder
    chunk = read_chunk(data, at + 1, end)
    if chunk[1] != end:
        raise _AnotherOrder
    return chunk


def _walk(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
