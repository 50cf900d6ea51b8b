"""Encodes objects as messages.

Fields are written in the order of their numbers. Unset fields are not written, which readers take for zero.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from typing import Any

from crossply.apiserver.protobuf.message_table import ALTERNATIVES, EMBEDDED, LIST, MAP, Field, table
from crossply.apiserver.protobuf.single_value_messages import LEAVES
from crossply.apiserver.protobuf.wire import BYTES, FIXED64, VARINT, chunk, varint
from crossply.values.recursive_type_cache import DefinitionCache

Write = Callable[[Any], bytes]
"""Writes one value, without its field number."""

_WIRE_TYPES = {"bool": VARINT, "int32": VARINT, "int64": VARINT, "double": FIXED64}


def encode_message(name: str, obj: Any) -> bytes:
    return _message(name).write(obj)


class Message:
    __slots__ = ("fields", "split")

    def __init__(self, name: str) -> None:
        self.fields: list[tuple[str, Callable[[Any], bytes]]] = []
        """JSON names, and what writes the field; an embedded one has no name and gets the whole object."""
        alternatives = ALTERNATIVES.get(name)
        self.split = alternatives.split if alternatives else None

    def write(self, obj: Any) -> bytes:
        if self.split is not None:
            obj = self.split(obj)
        parts = []
        for name, write in self.fields:
            value = obj.get(name) if name else obj
            if value is not None:
                parts.append(write(value))
        return b"".join(parts)


def _message(name: str) -> Message:
    """The writer of a message, created on first use; a recursive one refers to itself."""
    return _messages.get(name)


def _fill(message: Message, name: str) -> None:
    fields = table().messages[name]
    message.fields = [_field(number, fields[number]) for number in sorted(fields)]


_messages: DefinitionCache[Message] = DefinitionCache(Message, _fill)


def _field(number: int, field: Field) -> tuple[str, Callable[[Any], bytes]]:
    write = _value(number, field.type)
    if field.container == EMBEDDED:
        return "", _embedded(number, field.type)
    if field.container == LIST:
        return field.name, lambda items: b"".join(map(write, items))
    if field.container == MAP:
        return field.name, _map(number, field.type)
    return field.name, write


def _value(number: int, kind: str) -> Write:
    wire_type = _WIRE_TYPES.get(kind, BYTES)
    tag = varint(number << 3 | wire_type)
    if wire_type == VARINT:
        return lambda value: tag + varint(int(value))
    if wire_type == FIXED64:
        return lambda value: tag + struct.pack("<d", value)
    inner = _bytes(kind)

    def write(value: Any) -> bytes:
        data = inner(value)
        return tag + varint(len(data)) + data

    return write


def _bytes(kind: str) -> Write:
    if kind == "string":
        return lambda value: value.encode()
    if kind == "bytes":
        return lambda value: base64.b64decode(value, validate=True)
    leaf = LEAVES.get(kind)
    if leaf is not None:
        return _written_by(leaf.write)
    return _message(kind).write


def _written_by(write: Write) -> Write:
    """A null scalar, such as an item of an enum, is an empty message."""
    return lambda value: b"" if value is None else write(value)


def _embedded(number: int, kind: str) -> Write:
    """An embedded message: its fields are among the object's own."""
    write = _message(kind).write

    def write_part(obj: Any) -> bytes:
        data = write(obj)
        return chunk(number, data) if data else b""

    return write_part


def _map(number: int, kind: str) -> Write:
    write = _value(2, kind)

    def write_entries(entries: dict[str, Any]) -> bytes:
        return b"".join(
            chunk(number, chunk(1, key.encode()) + write(entries[key])) for key in sorted(entries)
        )

    return write_entries
