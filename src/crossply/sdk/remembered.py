"""Objects that were read or written before, remembered by their content.

A function sees the same composite resources again and again, and little in them changes in between: the same
bytes arrive, and the same objects are made of them. Libraries in C turn plain objects into bytes of their own
and back much faster than a Struct is written or read in Python: such bytes tell whether an object was written
before; and what was read before is kept as its bytes, of which everybody gets an object of their own.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Mapping
from math import isfinite
from typing import Any, Generic, TypeVar

from crossply.values import Object
from crossply.values.compact_bytes import compact_bytes
from crossply.values.protobuf_struct import StructError, decode_struct, encode_struct, from_wire, varint

Value = TypeVar("Value")

_FORMAT = 2
"""Without references between equal parts: those would tell the same content in different ways."""

_LARGEST = 1 << 16
_MOST_BYTES = 16 << 20
_MOST_SEEN = 1 << 16


class Memory(Generic[Value]):
    """The most recent of what was put into it, up to a number of bytes.

    What comes once is not kept: only what is asked for a second time is wanted.
    """

    __slots__ = ("_bytes", "_new", "_old", "_seen")

    def __init__(self) -> None:
        self._new: dict[bytes, Value] = {}
        self._old: dict[bytes, Value] = {}
        self._bytes = 0
        self._seen: set[int] = set()

    def get(self, key: bytes) -> Value | None:
        """What belongs to the key, if it is still known."""
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found, len(key))
        return found

    def wants(self, key: bytes) -> bool:
        """Tell whether it was asked for before, so that it is worth keeping."""
        seen, number = self._seen, hash(key)
        if number in seen:
            return len(key) <= _LARGEST
        if len(seen) >= _MOST_SEEN:
            seen.clear()
        seen.add(number)
        return False

    def put(self, key: bytes, value: Value, size: int) -> None:
        """Remember a value of so many bytes; there are two generations, of which the older one goes."""
        self._bytes += size + len(key)
        if self._bytes > _MOST_BYTES // 2:
            self._old, self._new, self._bytes = self._new, {}, size + len(key)
        self._new[key] = value


conditions: Memory[Mapping[str, Object]] = Memory()
"""The status conditions of resources, by the bytes of the resources."""

_resources: Memory[bytes] = Memory()
_structs: Memory[bytes] = Memory()
_read: Memory[bytes] = Memory()
_read_as_sent: Memory[bytes] = Memory()


def write_resource(fields: Object) -> bytes:
    """An object as the message of a resource, whose first field it is.

    Raises StructError, TypeError or AttributeError where it cannot be sent.
    """
    content = _content(fields)
    known = _resources.get(content)
    if known is None:
        struct = encode_struct(fields)
        # Doubles that are not finite end in one of these bytes, which are rare otherwise.
        if (b"\x7f" in struct or b"\xff" in struct) and not is_finite(fields):
            raise StructError("a number is not finite")
        known = b"\x0a" + varint(len(struct)) + struct
        # As content, a number that is not finite looks like null.
        if content and b"null" not in content and _resources.wants(content):
            _resources.put(compact_bytes(content), known, len(known))
    return known


def _content(fields: Object) -> bytes:
    """What tells an object from others; nothing where it is not plain.

    Values that `sdk.plain` makes plain have the content of what they become. To load orjson takes longer than
    to answer a call: so this is for servers, which load it, and for engines, which have it.
    """
    orjson = sys.modules.get("orjson")
    if orjson is None:
        return b""
    try:
        content: bytes = orjson.dumps(
            fields, None, orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
        )
    except TypeError:
        return b""
    return content


def write_any(fields: Object) -> bytes:
    """The bytes of a Struct, in which numbers need not be finite."""
    try:
        content = marshal.dumps(fields, _FORMAT)
    except ValueError:
        return encode_struct(fields)
    known = _structs.get(content)
    if known is None:
        known = encode_struct(fields)
        if _structs.wants(content):
            _structs.put(content, known, len(known))
    return known


def is_finite(value: Any) -> bool:
    """Tell whether all numbers in a plain value are finite: JSON has no others."""
    if type(value) is dict:
        return all(type(item) is str or is_finite(item) for item in value.values())
    if type(value) is list:
        return all(type(item) is str or is_finite(item) for item in value)
    return type(value) is not float or isfinite(value)


def read(data: bytes) -> Object:
    """The object of a Struct, whole numbers as integers; it belongs to whoever asks."""
    return _kept(_read, data, from_wire)


def read_as_sent(data: bytes) -> Object:
    """The object of a Struct, every number a float; it belongs to whoever asks."""
    return _kept(_read_as_sent, data, None)


def _kept(memory: Memory[bytes], data: bytes, change: Any) -> Object:
    content = memory.get(data)
    if content is not None:
        known: Object = marshal.loads(content)
        return known
    fields: Object = decode_struct(data)
    if change is not None:
        fields = change(fields)
    if memory.wants(data):
        content = marshal.dumps(fields, _FORMAT)
        memory.put(data, content, len(content))
    return fields
