"""Objects as the store holds them: JSON with sorted keys, and a bounded cache of what was decoded.

The store holds bytes. Cached objects may be dropped at any time, and nobody may change them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from crossply.apiserver.storage import Entry, Event, Key
from crossply.values import Object
from crossply.values.bounded_cache import BoundedCache
from crossply.values.overallocated_bytes import compact_bytes

SORTED, INDENTED = orjson.OPT_SORT_KEYS, orjson.OPT_INDENT_2

_SMALL = 2 << 10
"""Up to this size decoding an object is faster than looking it up in the cache."""
_MOST_LABELS = 64
_BYTES_A_LABEL = 128
_LABEL_BYTES = 4 << 20
_CACHED_BYTES = 4 << 20


def encode(obj: Object) -> bytes:
    """The stored form of an object: JSON with sorted keys."""
    return compact_bytes(orjson.dumps(obj, option=SORTED))


def decode(data: bytes) -> Object:
    obj: Object = orjson.loads(data)
    return obj


def with_revision(obj: Object, revision: int) -> Object:
    """The object with `metadata.resourceVersion` set to a revision."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}


def encoder(obj: Object) -> Callable[[int], bytes]:
    """A function that encodes the object once the store has assigned its revision."""
    return lambda revision: encode(with_revision(obj, revision))


def to_json(value: Any, option: int = 0) -> bytes:
    """A value as JSON, at any depth.

    orjson writes 254 levels at most. Stored objects nest less deeply, with room for the list or review around
    them, but earlier versions stored deeper ones: the slower standard library writes those.
    """
    try:
        return orjson.dumps(value, option=option)
    except TypeError:
        return _to_json_of_any_depth(value, option)


def _to_json_of_any_depth(value: Any, option: int) -> bytes:
    import json

    is_indented = bool(option & INDENTED)
    text = json.dumps(
        value,
        ensure_ascii=False,
        sort_keys=bool(option & SORTED),
        indent=2 if is_indented else None,
        separators=(",", ": " if is_indented else ":"),
    )
    return text.encode()


class State(NamedTuple):
    """An object at a revision, as stored."""

    key: Key
    revision: int
    data: bytes


def state_of(entry: Entry | Event) -> State:
    """The state that an entry holds, or that an event leads to."""
    return State(entry.key, entry.revision, entry.data)


class DecodedObjects:
    """Caches the labels of large objects, and recently changed objects. Used in the event loop only."""

    __slots__ = ("_encoded", "_labels", "_objects", "decodings")

    def __init__(self) -> None:
        self._labels: BoundedCache[tuple[Key, int], Mapping[str, str]] = BoundedCache(_LABEL_BYTES)
        self._objects: BoundedCache[tuple[Key, int], Object] = BoundedCache(_CACHED_BYTES)
        self._encoded: BoundedCache[tuple[object, ...], bytes] = BoundedCache(_CACHED_BYTES)
        self.decodings = 0
        """How many objects had to be decoded."""

    def labels(self, state: State) -> Mapping[str, str]:
        if len(state.data) <= _SMALL:
            return _labels(decode(state.data))
        cached = self._labels.get(state[:2])
        if cached is None:
            cached = _labels(self.get(state))
            if state.revision and len(cached) <= _MOST_LABELS:
                self._labels.put(state[:2], cached, _BYTES_A_LABEL * len(cached))
        return cached

    def get(self, state: State) -> Object:
        """The decoded object; read-only."""
        if len(state.data) <= _SMALL:
            return decode(state.data)
        cached = self._objects.get(state[:2])
        if cached is None:
            cached = decode(state.data)
            self.decodings += 1
            if state.revision:
                self._objects.put(state[:2], cached, len(state.data))
        return cached

    def put(self, state: State, obj: Object) -> None:
        """Cache an object that is about to be stored in this state."""
        if len(state.data) > _SMALL:
            self._objects.put(state[:2], obj, len(state.data))

    def cached_encoding(self, key: tuple[object, ...]) -> bytes | None:
        """The bytes cached under a key that names an event and a form, or None."""
        return self._encoded.get(key)

    def cache_encoding(self, key: tuple[object, ...], data: bytes) -> None:
        """Cache an encoded event for other watches in the same form."""
        self._encoded.put(key, data, len(data))


def _labels(obj: Object) -> Mapping[str, str]:
    labels: Mapping[str, str] = obj["metadata"].get("labels") or {}
    return labels
