"""The protobuf wire format: a message is a sequence of numbered values."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.values.protobuf_struct import varint as unsigned_varint

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
END_GROUP = 4
_64_BITS = 0xFFFF_FFFF_FFFF_FFFF
UNEXPECTED_END = "unexpected EOF"


class Malformed(ValueError):
    """The bytes are not a valid message."""


def fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The number, wire type and value of each field: an int for a varint, bytes for anything else."""
    at, end = 0, len(data)
    while at < end:
        tag, at = read_varint(data, at, end)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise Malformed(f"illegal tag {number} (wire type {tag})")
        if wire_type == VARINT:
            value, at = read_varint(data, at, end)
            yield number, wire_type, value
            continue
        at, stop = extent(data, at, end, wire_type)
        yield number, wire_type, data[at:stop]
        at = stop


def extent(data: bytes, at: int, end: int, wire_type: int) -> tuple[int, int]:
    """The start and end of the value of a field that is not a varint."""
    if wire_type == BYTES:
        size, at = read_varint(data, at, end)
        if size >> 63:
            raise Malformed("proto: negative length found during unmarshaling")
    elif wire_type in (FIXED64, FIXED32):
        size = 8 if wire_type == FIXED64 else 4
    else:
        raise Malformed(f"proto: illegal wireType {wire_type}")
    if at + size > end:
        raise Malformed(UNEXPECTED_END)
    return at, at + size


def read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The varint at `at`, and the offset of the next byte."""
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _64_BITS, at
        shift += 7
        if shift >= 64:
            raise Malformed("proto: integer overflow")
    raise Malformed(UNEXPECTED_END)


def signed(value: int) -> int:
    """A varint as a signed 64-bit integer."""
    return value - (1 << 64) if value >> 63 else value


def varints(data: bytes) -> Iterator[int]:
    """The numbers of a packed list."""
    at, end = 0, len(data)
    while at < end:
        value, at = read_varint(data, at, end)
        yield value


def varint(number: int) -> bytes:
    """A number as a varint; a negative one takes ten bytes."""
    return unsigned_varint(number & _64_BITS)


def chunk(number: int, data: bytes) -> bytes:
    """A length-delimited field: a string or another message."""
    return varint(number << 3 | BYTES) + varint(len(data)) + data
