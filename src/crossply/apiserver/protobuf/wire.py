"""The wire format of protobuf: a message is a row of numbered values."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Malformed(ValueError):
    """The bytes are no message."""


def fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The number, wire type and value of each field: an int for a varint, bytes for anything else."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise Malformed(f"illegal tag {number} (wire type {tag})")
        if wire_type == VARINT:
            value, at = _varint(data, at)
            yield number, wire_type, value
            continue
        size, at = _size(data, at, wire_type)
        if at + size > end:
            raise Malformed("unexpected EOF")
        yield number, wire_type, data[at : at + size]
        at += size


def _size(data: bytes, at: int, wire_type: int) -> tuple[int, int]:
    if wire_type == BYTES:
        return _varint(data, at)
    if wire_type == FIXED64:
        return 8, at
    if wire_type == FIXED32:
        return 4, at
    raise Malformed(f"illegal wireType {wire_type}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise Malformed("unexpected EOF")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
        if shift >= 64:
            raise Malformed("integer overflow")


def signed(value: int) -> int:
    """A varint as the 64-bit integer it stands for."""
    return value - (1 << 64) if value >> 63 else value


def varints(data: bytes) -> Iterator[int]:
    """The numbers of a packed list."""
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value
