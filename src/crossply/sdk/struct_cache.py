"""Caches of encoded and decoded objects, by content.

A function receives the same composite resources many times, with few changes: the same bytes arrive, and
the same objects are encoded. C libraries serialize plain objects much faster than Python encodes or decodes
a Struct. So their bytes are the keys of encoded objects, and decoded objects are cached as such bytes, from
which each caller gets a copy.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Mapping
from math import isfinite
from typing import Any, Generic, TypeVar

from crossply.values import Object
from crossply.values.overallocated_bytes import compact_bytes
from crossply.values.protobuf_struct import StructError, decode_struct, encode_struct, from_wire, varint

Value = TypeVar("Value")

_FORMAT = 2
"""Without references between equal parts, so that equal content has equal bytes."""

_MAX_KEY = 1 << 16
_MAX_BYTES = 16 << 20
_MAX_HASHES = 1 << 16


class ContentCache(Generic[Value]):
    """A cache of recent values, limited in bytes.

    Only a key that is requested a second time is worth caching: see `should_cache`.
    """

    __slots__ = ("_bytes", "_hashes", "_new", "_old")

    def __init__(self) -> None:
        self._new: dict[bytes, Value] = {}
        self._old: dict[bytes, Value] = {}
        self._bytes = 0
        self._hashes: set[int] = set()

    def get(self, key: bytes) -> Value | None:
        value = self._new.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value, len(key))
        return value

    def should_cache(self, key: bytes) -> bool:
        """Whether the key was requested before."""
        hashes, number = self._hashes, hash(key)
        if number in hashes:
            return len(key) <= _MAX_KEY
        if len(hashes) >= _MAX_HASHES:
            hashes.clear()
        hashes.add(number)
        return False

    def put(self, key: bytes, value: Value, size: int) -> None:
        """Cache a value of `size` bytes. There are two generations; the older one is evicted."""
        self._bytes += size + len(key)
        if self._bytes > _MAX_BYTES // 2:
            self._old, self._new, self._bytes = self._new, {}, size + len(key)
        self._new[key] = value


conditions: ContentCache[Mapping[str, Object]] = ContentCache()
"""The status conditions of resources, by the bytes of the resources."""

_resources: ContentCache[bytes] = ContentCache()
_structs: ContentCache[bytes] = ContentCache()
_read: ContentCache[bytes] = ContentCache()
_read_as_sent: ContentCache[bytes] = ContentCache()


def write_resource(fields: Object) -> bytes:
    """Encode an object as a resource message.

    Raises StructError, TypeError or AttributeError when it cannot be sent.
    """
    content = _content(fields)
    known = _resources.get(content)
    if known is None:
        struct = encode_struct(fields)
        # Infinite doubles and NaN contain one of these bytes, which are rare otherwise.
        if (b"\x7f" in struct or b"\xff" in struct) and not is_finite(fields):
            raise StructError("a number is not finite")
        known = b"\x0a" + varint(len(struct)) + struct
        # In the content, infinity and NaN look like null.
        if content and b"null" not in content and _resources.should_cache(content):
            _resources.put(compact_bytes(content), known, len(known))
    return known


def _content(fields: Object) -> bytes:
    """The cache key of an object; empty when it is not plain.

    Values that `author_value_conversion` converts have the key of the result. Importing orjson takes longer
    than a call, so it is used only where it is loaded already: in servers and engines.
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
    """Encode a Struct; numbers need not be finite."""
    try:
        content = marshal.dumps(fields, _FORMAT)
    except ValueError:
        return encode_struct(fields)
    known = _structs.get(content)
    if known is None:
        known = encode_struct(fields)
        if _structs.should_cache(content):
            _structs.put(content, known, len(known))
    return known


def is_finite(value: Any) -> bool:
    """Whether all numbers of a plain value are finite, as JSON requires."""
    if type(value) is dict:
        return all(type(item) is str or is_finite(item) for item in value.values())
    if type(value) is list:
        return all(type(item) is str or is_finite(item) for item in value)
    return type(value) is not float or isfinite(value)


def read(data: bytes) -> Object:
    """Decode a Struct with whole numbers as integers; the caller owns the object."""
    return _decode_cached(_read, data, from_wire)


def read_as_sent(data: bytes) -> Object:
    """Decode a Struct with all numbers as floats; the caller owns the object."""
    return _decode_cached(_read_as_sent, data, None)


def _decode_cached(memory: ContentCache[bytes], data: bytes, change: Any) -> Object:
    content = memory.get(data)
    if content is not None:
        known: Object = marshal.loads(content)
        return known
    fields: Object = decode_struct(data)
    if change is not None:
        fields = change(fields)
    if memory.should_cache(data):
        content = marshal.dumps(fields, _FORMAT)
        memory.put(data, content, len(content))
    return fields
