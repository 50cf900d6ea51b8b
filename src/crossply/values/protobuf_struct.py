"""JSON values as a function sees them: google.protobuf.Struct, without the protobuf library.

A Struct has one kind of number, the double. `to_wire` gives the view that the wire would give and
`from_wire` turns whole doubles back into the integers that Kubernetes wants, so a function that runs
in-process and one that is called over gRPC see the same values. `encode_struct` is deterministic (keys in
order of their UTF-8 bytes), which lets encoded objects be kept, joined and digested.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, error
from typing import Any

from crossply.errors import CrossplyError
from crossply.values import Object

MAX_DEPTH = 300
"""How deep a value may nest. Far beyond any real object, and well inside Python's own stack."""

Shape = tuple[tuple[str, bytes], ...]
"""The keys of an object in order, each with how it is written."""

_INT64 = 2.0**63
_DOUBLE = Struct("<d")
_pack_double = _DOUBLE.pack
_unpack_double = _DOUBLE.unpack_from

# Objects repeat themselves: the same keys, and the same short strings under them. What was written or read
# lately is looked up instead, which makes both directions about three times as fast.
_SHORT = 100
_FEW_KEYS = 20
_MOST_KNOWN = 8192
_names_written: dict[str, bytes] = {}
_texts_written: dict[tuple[bytes, str], bytes] = {}
_shapes_written: dict[tuple[str, ...], Shape] = {}
_entries_read: dict[bytes, tuple[str, Any]] = {}
_OVERRUN = "a field ends behind its message"
_IMMUTABLE = frozenset((str, float, bool))


class StructError(CrossplyError):
    """A value cannot be carried by a protobuf Struct, or the bytes of a Struct are damaged."""

    code = "CP-140"
    hint = "function messages carry JSON values: maps, lists, strings, finite numbers, booleans and null"


def to_wire(value: Any) -> Any:
    """The value with every number a double, sharing nothing mutable with the original."""
    try:
        return _to_wire(value)
    except RecursionError:
        raise StructError(f"value nests deeper than {MAX_DEPTH} levels") from None
    except OverflowError:
        raise StructError("a number is too large for a double") from None


def _to_wire(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is float or kind is bool or value is None:
        return value
    if kind is dict:
        return {key: item if type(item) is str else _to_wire(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) is str else _to_wire(item) for item in value]
    if kind is int:
        return float(value)
    raise StructError(f"a {kind.__name__} is not a JSON value")


def from_wire(value: Any) -> Any:
    """The value with whole doubles as integers, as Kubernetes objects have them; a new value throughout."""
    kind = type(value)
    if kind is str:
        return value
    if kind is dict:
        return {key: item if type(item) is str else from_wire(item) for key, item in value.items()}
    if kind is float:
        return _number(value)
    if kind is list:
        return [item if type(item) is str else from_wire(item) for item in value]
    return value


def _number(value: float) -> int | float:
    if value.is_integer():
        return int(value) if -_INT64 <= value < _INT64 else value
    if value - value != 0.0:
        raise StructError(f"number {value} is not finite")
    return value


def encode_struct(fields: Object) -> bytes:
    """The fields as the bytes of a Struct, keys in order."""
    try:
        return _encode_fields(fields, 0)
    except UnicodeEncodeError:
        raise StructError("a string holds a lone surrogate and cannot be written as UTF-8") from None
    except error:
        raise StructError("a number is too large for a double") from None


class _Varints(dict[int, bytes]):
    """Unsigned protobuf varints: those of one or two bytes are written once."""

    def __missing__(self, number: int) -> bytes:
        out, rest = bytearray(), number
        while rest > 127:
            out.append(rest & 127 | 128)
            rest >>= 7
        out.append(rest)
        written = bytes(out)
        if number < 16384:
            self[number] = written
        return written


varint: Callable[[int], bytes] = _Varints().__getitem__
"""An unsigned protobuf varint."""


def _encode_fields(fields: Object, depth: int) -> bytes:
    keys = tuple(fields)
    parts: list[bytes] = []
    for key, name in _shapes_written.get(keys) or _encode_shape(keys):
        value = fields[key]
        kind = type(value)
        if kind is str:
            parts.append(_texts_written.get((name, value)) or _encode_text_entry(name, value))
        elif kind is bool:
            parts += (b"\x0a", varint(len(name) + 3), name, b"\x02\x20\x01" if value else b"\x02\x20\x00")
        elif kind is int or kind is float:
            parts += (b"\x0a", varint(len(name) + 10), name, b"\x09\x11", _pack_double(value))
        else:
            body = _encode_value(value, depth + 1)
            length = varint(len(body))
            parts += (b"\x0a", varint(len(name) + len(length) + len(body)), name, length, body)
    return b"".join(parts)


def _encode_shape(keys: tuple[str, ...]) -> Shape:
    shape = tuple((key, known_name(key)) for key in sorted(keys))
    if len(keys) <= _FEW_KEYS:
        _remember(_shapes_written, keys, shape)
    return shape


def known_name(key: str) -> bytes:
    """The key of an entry of a map, and the tag of the value that follows it."""
    return _names_written.get(key) or _encode_name(key)


def _encode_name(key: str) -> bytes:
    name = key.encode()
    written = b"".join((b"\x0a", varint(len(name)), name, b"\x12"))
    if len(written) <= _SHORT:
        _remember(_names_written, key, written)
    return written


def _encode_text_entry(name: bytes, text: str) -> bytes:
    """A whole entry whose value is a string."""
    value = _encode_value(text, 0)
    length = varint(len(value))
    written = b"".join((b"\x0a", varint(len(name) + len(length) + len(value)), name, length, value))
    if len(written) <= _SHORT:
        _remember(_texts_written, (name, text), written)
    return written


def _remember(known: dict[Any, Any], key: Any, value: Any) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[key] = value


def _encode_value(value: Any, depth: int) -> bytes:
    kind = type(value)
    if kind is str:
        text: bytes = value.encode()
        return b"".join((b"\x1a", varint(len(text)), text))
    if kind is float or kind is int:
        return b"\x11" + _pack_double(value)
    if kind is bool:
        return b"\x20\x01" if value else b"\x20\x00"
    if value is None:
        return b"\x08\x00"
    if depth > MAX_DEPTH:
        raise StructError(f"value nests deeper than {MAX_DEPTH} levels")
    if kind is dict:
        fields = _encode_fields(value, depth)
        return b"\x2a" + varint(len(fields)) + fields
    if kind is list:
        items = _encode_items(value, depth)
        return b"\x32" + varint(len(items)) + items
    raise StructError(f"a {kind.__name__} is not a JSON value")


def _encode_items(items: list[Any], depth: int) -> bytes:
    parts = []
    for item in items:
        value = _encode_value(item, depth + 1)
        parts.append(b"\x0a" + varint(len(value)) + value)
    return b"".join(parts)


def decode_struct(data: bytes) -> Object:
    """The fields of an encoded Struct, every number a float."""
    try:
        return _decode_fields(data, 0, len(data), 0)
    except (IndexError, UnicodeDecodeError, error):
        raise StructError("the bytes of a Struct are damaged") from None


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The varint that starts at `at`, and where the next byte is."""
    byte = data[at]
    if byte < 128:
        return byte, at + 1
    value, shift = byte & 127, 7
    while True:
        at += 1
        byte = data[at]
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at + 1
        shift += 7
        if shift > 63:
            raise StructError("a varint is longer than ten bytes")


def read_chunk(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where the length-delimited chunk that starts at `at` begins and ends."""
    size, start = data[at], at + 1
    if size > 127:
        size, start = read_varint(data, at)
    stop = start + size
    if stop > end:
        raise StructError("a message ends before its announced length")
    return start, stop


def skip_field(data: bytes, at: int, end: int, wire_type: int) -> int:
    """The place behind a field that is not known here."""
    if wire_type == 0:
        return read_varint(data, at)[1]
    if wire_type == 2:
        return read_chunk(data, at, end)[1]
    if wire_type in (1, 5):
        stop = at + (8 if wire_type == 1 else 4)
        if stop <= end:
            return stop
    raise StructError("a field has a damaged wire type")


def _decode_fields(data: bytes, at: int, end: int, depth: int) -> Object:
    fields: Object = {}
    while at < end:
        if data[at] != 0x0A:
            tag, at = read_varint(data, at)
            at = skip_field(data, at, end, tag & 7)
            continue
        start, at = read_chunk(data, at + 1, end)
        if at - start > _SHORT:
            key, value = _decode_entry(data, start, at, depth)
        else:
            entry = data[start:at]
            key, value = _entries_read.get(entry) or _decode_short_entry(entry, depth)
        fields[key] = value
    if at > end:
        raise StructError(_OVERRUN)
    return fields


def _decode_short_entry(entry: bytes, depth: int) -> tuple[str, Any]:
    read = _decode_entry(entry, 0, len(entry), depth)
    if type(read[1]) in _IMMUTABLE:
        _remember(_entries_read, entry, read)
    return read


def _decode_entry(data: bytes, at: int, end: int, depth: int) -> tuple[str, Any]:
    key, value = "", None
    while at < end:
        tag = data[at]
        if tag == 0x0A:
            start, at = read_chunk(data, at + 1, end)
            key = str(data[start:at], "utf-8")
        elif tag == 0x12:
            start, at = read_chunk(data, at + 1, end)
            value = decode_value(data, start, at, depth + 1)
        else:
            tag, at = read_varint(data, at)
            at = skip_field(data, at, end, tag & 7)
    if at > end:
        raise StructError(_OVERRUN)
    return key, value


def decode_value(data: bytes, at: int, end: int, depth: int) -> Any:
    """The value that is encoded between two places, so deep in an object."""
    if depth > MAX_DEPTH:
        raise StructError(f"value nests deeper than {MAX_DEPTH} levels")
    value: Any = None
    while at < end:
        tag = data[at]
        if tag == 0x1A:
            start, at = read_chunk(data, at + 1, end)
            value = str(data[start:at], "utf-8")
        elif tag == 0x2A:
            start, at = read_chunk(data, at + 1, end)
            value = _decode_fields(data, start, at, depth)
        elif tag == 0x32:
            start, at = read_chunk(data, at + 1, end)
            value = _decode_items(data, start, at, depth)
        elif tag == 0x11:
            value, at = _unpack_double(data, at + 1)[0], at + 9
        elif tag == 0x20:
            number, at = read_varint(data, at + 1)
            value = number != 0
        elif tag == 0x08:
            value, at = None, read_varint(data, at + 1)[1]
        else:
            tag, at = read_varint(data, at)
            at = skip_field(data, at, end, tag & 7)
    if at > end:
        raise StructError(_OVERRUN)
    return value


def _decode_items(data: bytes, at: int, end: int, depth: int) -> list[Any]:
    items = []
    while at < end:
        tag, at = read_varint(data, at)
        if tag == 0x0A:
            start, at = read_chunk(data, at, end)
            items.append(decode_value(data, start, at, depth + 1))
        else:
            at = skip_field(data, at, end, tag & 7)
    if at > end:
        raise StructError(_OVERRUN)
    return items
