"""Parts of stored objects that many requests ask for, decoded once for all of them.

The store holds bytes. What is kept here is bounded and may be dropped at any time; nobody may change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.apiserver.endpoints.body_decoding import decode
from crossply.apiserver.storage import Entry, Event, Key
from crossply.values import Object
from crossply.values.bounded_cache import BoundedCache

_SMALL = 2 << 10
"""Up to this size an object is decoded faster than it is remembered."""
_MOST_LABELS = 64
_BYTES_A_LABEL = 128
_LABEL_BYTES = 4 << 20
_CACHED_BYTES = 4 << 20


class State(NamedTuple):
    """An object at a revision, as stored."""

    key: Key
    revision: int
    data: bytes


def state_of(entry: Entry | Event) -> State:
    """The object that an entry holds, or that a change has left."""
    return State(entry.key, entry.revision, entry.data)


class DecodedObjects:
    """The labels of large objects, and the objects of the latest changes. Used in the event loop only."""

    __slots__ = ("_encoded", "_labels", "_objects", "decodings")

    def __init__(self) -> None:
        self._labels: BoundedCache[tuple[Key, int], Mapping[str, str]] = BoundedCache(_LABEL_BYTES)
        self._objects: BoundedCache[tuple[Key, int], Object] = BoundedCache(_CACHED_BYTES)
        self._encoded: BoundedCache[tuple[object, ...], bytes] = BoundedCache(_CACHED_BYTES)
        self.decodings = 0
        """How many objects had to be decoded."""

    def labels(self, state: State) -> Mapping[str, str]:
        """The labels of an object."""
        if len(state.data) <= _SMALL:
            return _labels(decode(state.data))
        known = self._labels.get(state[:2])
        if known is None:
            known = _labels(self.whole(state))
            if state.revision and len(known) <= _MOST_LABELS:
                self._labels.put(state[:2], known, _BYTES_A_LABEL * len(known))
        return known

    def whole(self, state: State) -> Object:
        """The whole object."""
        if len(state.data) <= _SMALL:
            return decode(state.data)
        known = self._objects.get(state[:2])
        if known is None:
            known = decode(state.data)
            self.decodings += 1
            if state.revision:
                self._objects.put(state[:2], known, len(state.data))
        return known

    def known_encoding(self, key: tuple[object, ...]) -> bytes | None:
        """What was remembered under a key that names a change and a form."""
        return self._encoded.get(key)

    def remember_encoding(self, key: tuple[object, ...], data: bytes) -> None:
        """Keep a change in a form, for others who watch in the same form."""
        self._encoded.put(key, data, len(data))


def _labels(obj: Object) -> Mapping[str, str]:
    labels: Mapping[str, str] = obj["metadata"].get("labels") or {}
    return labels
