"""Decodes messages to the objects that they are in JSON.

Go writes every non-pointer field, even if it is empty; in JSON such fields are left out. So an empty value is
dropped unless the field is a pointer, where it was set explicitly.

The fields of a message are compiled once into readers, when the message is first used.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from typing import Any

from crossply.apiserver.protobuf.message_table import ALTERNATIVES, EMBEDDED, LIST, MAP, POINTER, Field, table
from crossply.apiserver.protobuf.single_value_messages import LEAVES, int32
from crossply.apiserver.protobuf.wire import (
    BYTES,
    END_GROUP,
    FIXED64,
    UNEXPECTED_END,
    VARINT,
    Malformed,
    extent,
    read_varint,
    signed,
    varints,
)
from crossply.values import Object
from crossply.values.recursive_type_cache import DefinitionCache

MAX_DEPTH = 200
"""How deep messages may nest: far deeper than real objects, within the stack."""

Take = Callable[[Object, bytes, int, int, int], None]
"""Reads a field into the object: from the bytes between two offsets, at a depth."""
TakeNumber = Callable[[Object, int], None]

_unpack_double = struct.Struct("<d").unpack_from


def decode_message(name: str, data: bytes) -> Any:
    """The value of a message, by the message's name; raises Malformed."""
    try:
        return _message(name).read(data, 0, len(data), 0)
    except UnicodeDecodeError:
        raise Malformed("invalid UTF-8") from None


class Message:
    __slots__ = ("chunks", "joined", "known", "name", "numbers")

    def __init__(self, name: str) -> None:
        self.name = name
        self.known: frozenset[int] = frozenset()
        self.chunks: dict[int, Take] = {}
        """Length-delimited fields, by tag."""
        self.numbers: dict[int, TakeNumber] = {}
        alternatives = ALTERNATIVES.get(name)
        self.joined = alternatives.joined if alternatives else None

    def read(self, data: bytes, at: int, end: int, depth: int) -> Any:
        """The value of the message between two offsets."""
        if depth > MAX_DEPTH:
            raise Malformed(f"the object nests deeper than {MAX_DEPTH} messages")
        obj: Object = {}
        chunks, numbers = self.chunks, self.numbers
        while at < end:
            tag = data[at]
            at += 1
            if tag > 127:
                tag, at = read_varint(data, at - 1, end)
            take = chunks.get(tag)
            if take is not None:
                if tag & 7 == BYTES and at < end and data[at] < 128:
                    stop = at + 1 + data[at]
                    at += 1
                    if stop > end:
                        raise Malformed(UNEXPECTED_END)
                else:
                    at, stop = extent(data, at, end, tag & 7)
                take(obj, data, at, stop, depth)
                at = stop
            elif tag in numbers:
                value, at = read_varint(data, at, end)
                numbers[tag](obj, value)
            else:
                at = self._skip(tag, data, at, end)
        return self.joined(obj) if self.joined else obj

    def _skip(self, tag: int, data: bytes, at: int, end: int) -> int:
        """The offset after an unknown field."""
        number, wire_type = tag >> 3, tag & 7
        if wire_type == END_GROUP:
            raise Malformed(f"proto: {self._title}: wiretype end group for non-group")
        if number == 0:
            raise Malformed(f"proto: {self._title}: illegal tag {number} (wire type {tag})")
        if number in self.known:
            field = table().messages[self.name][number].name
            raise Malformed(f"proto: wrong wireType = {wire_type} for field {field}")
        if wire_type == VARINT:
            return read_varint(data, at, end)[1]
        return extent(data, at, end, wire_type)[1]

    @property
    def _title(self) -> str:
        return self.name.rpartition(".")[2]


def _message(name: str) -> Message:
    """The reader of a message, created on first use; a recursive one refers to itself."""
    return _messages.get(name)


def _fill(message: Message, fields: dict[int, Field]) -> None:
    message.known = frozenset(fields)
    for number, field in fields.items():
        if field.type in NUMBERS and field.container != MAP:
            message.numbers[number << 3 | VARINT] = _number_taker(field)
            if field.container == LIST:
                message.chunks[number << 3 | BYTES] = _packed_taker(field)
        elif field.type == "double":
            message.chunks[number << 3 | FIXED64] = _taker(field)
        else:
            message.chunks[number << 3 | BYTES] = _taker(field)


_messages: DefinitionCache[Message] = DefinitionCache(
    Message, lambda message, name: _fill(message, table().messages[name])
)

NUMBERS: dict[str, Callable[[int], Any]] = {"bool": bool, "int32": int32, "int64": signed}
"""Varint scalars, and their JSON form."""


def _number_taker(field: Field) -> TakeNumber:
    name, convert = field.name, NUMBERS[field.type]
    if field.container == LIST:
        return lambda obj, value: obj.setdefault(name, []).append(convert(value))
    if field.container == POINTER:
        return lambda obj, value: obj.__setitem__(name, convert(value))

    def take(obj: Object, value: int) -> None:
        if value:
            obj[name] = convert(value)

    return take


def _packed_taker(field: Field) -> Take:
    name, convert = field.name, NUMBERS[field.type]

    def take(obj: Object, data: bytes, at: int, stop: int, depth: int) -> None:
        obj.setdefault(name, []).extend(map(convert, varints(data[at:stop])))

    return take


Read = Callable[[bytes, int, int, int], Any]


def _taker(field: Field) -> Take:
    name, container = field.name, field.container
    if container == MAP:
        return _map_taker(field)
    read = _reader(field.type)
    if container == LIST:

        def take_item(obj: Object, data: bytes, at: int, stop: int, depth: int) -> None:
            obj.setdefault(name, []).append(read(data, at, stop, depth + 1))

        return take_item
    if container == EMBEDDED:
        return lambda obj, data, at, stop, depth: obj.update(read(data, at, stop, depth + 1))
    # A scalar type returns None for "nothing"; the number 0 is a value.
    nothing: tuple[Any, ...] = (None,) if container == POINTER or field.type in LEAVES else (None, "", {}, 0)

    def take(obj: Object, data: bytes, at: int, stop: int, depth: int) -> None:
        value = read(data, at, stop, depth + 1)
        if value not in nothing:
            obj[name] = value

    return take


def _map_taker(field: Field) -> Take:
    """Reads map entries; an entry is a message of a key and a value."""
    name = field.name
    entry = Message(field.type)
    _fill(entry, {1: Field("key", "string", POINTER), 2: Field("value", field.type, POINTER)})
    entry.joined, entry.known = None, frozenset()
    absent = _absent(field.type)

    def take(obj: Object, data: bytes, at: int, stop: int, depth: int) -> None:
        read = entry.read(data, at, stop, depth)
        obj.setdefault(name, {})[read.get("key", "")] = read["value"] if "value" in read else absent()

    return take


def _absent(kind: str) -> Callable[[], Any]:
    """The default value of an entry without one."""
    if kind in NUMBERS:
        return lambda: NUMBERS[kind](0)
    return lambda: _reader(kind)(b"", 0, 0, 0)


def _reader(kind: str) -> Read:
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        return scalar
    leaf = LEAVES.get(kind)
    if leaf is not None:
        read_leaf = leaf.read
        return lambda data, at, stop, depth: read_leaf(data[at:stop])
    return _message(kind).read


def _double(data: bytes, at: int, stop: int, depth: int) -> float:
    number: float = _unpack_double(data, at)[0]
    if not math.isfinite(number):
        raise Malformed(f"number {number} is not finite")
    return number


_SCALARS: dict[str, Read] = {
    "string": lambda data, at, stop, depth: str(data[at:stop], "utf-8"),
    "bytes": lambda data, at, stop, depth: base64.b64encode(data[at:stop]).decode("ascii"),
    "double": _double,
}
