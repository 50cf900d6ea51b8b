"""Parts of stored objects that many requests ask for, decoded once for all of them.

The store holds bytes. What is kept here is bounded and may be dropped at any time; nobody may change it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from crossply.apiserver.objects import decode
from crossply.apiserver.storage import Entry, Event, Key
from crossply.values import Object

_SMALL = 2 << 10
"""Up to this size an object is decoded faster than it is remembered."""
_MOST_LABELS = 64
_LABELLED = 4096
_CACHED_BYTES = 4 << 20

_K = TypeVar("_K")
_V = TypeVar("_V")


class State(NamedTuple):
    """An object at a revision, as stored."""

    key: Key
    revision: int
    data: bytes


def state_of(entry: Entry | Event) -> State:
    """The object that an entry holds, or that a change has left."""
    return State(entry.key, entry.revision, entry.data)


class _Bounded(Generic[_K, _V]):
    """A cache of so much in all; what was used least recently goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._values: OrderedDict[_K, tuple[_V, int]] = OrderedDict()

    def get(self, key: _K) -> _V | None:
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: _K, value: _V, size: int) -> None:
        if size > self._most // 2 or key in self._values:
            return
        self._values[key] = value, size
        self._held += size
        while self._held > self._most:
            self._held -= self._values.popitem(last=False)[1][1]


class DecodedObjects:
    """The labels of large objects, and the objects of the latest changes. Used in the event loop only."""

    __slots__ = ("_encoded", "_labels", "_objects", "decodings")

    def __init__(self) -> None:
        self._labels: _Bounded[tuple[Key, int], Mapping[str, str]] = _Bounded(_LABELLED)
        self._objects: _Bounded[tuple[Key, int], Object] = _Bounded(_CACHED_BYTES)
        self._encoded: _Bounded[tuple[object, ...], bytes] = _Bounded(_CACHED_BYTES)
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
                self._labels.put(state[:2], known, 1)
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
