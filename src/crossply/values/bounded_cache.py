"""Caches that are bounded in bytes, also where the keys are untrusted.

One cache recognizes objects by identity, because comparing or hashing a large object costs as much as
computing what is to be remembered. A remembered object is held, so that no other one can get its identity; it
must not be changed.
"""

from __future__ import annotations

from _thread import allocate_lock  # threading itself is left out of the start-up path
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_ENTRY_BYTES = 512
"""What an entry costs beside its value."""


class BoundedCache(Generic[K, V]):
    """Values by key, each with the bytes that it holds. A value larger than the whole cache is not kept."""

    __slots__ = ("_entries", "_most_bytes", "bytes")

    def __init__(self, most_bytes: int) -> None:
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._most_bytes = most_bytes
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K) -> V | None:
        """The value of a key, which counts as used now."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value of this many bytes, and drop what no longer fits."""
        self.remove(key)
        size += _ENTRY_BYTES
        if size > self._most_bytes:
            return
        self._entries[key] = (value, size)
        self.bytes += size
        while self.bytes > self._most_bytes:
            _, (_, dropped) = self._entries.popitem(last=False)
            self.bytes -= dropped

    def remove(self, key: K) -> None:
        """Forget a key, if it is known."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.bytes -= entry[1]

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self.bytes = 0


class SharedCache(Generic[K, V]):
    """A bounded cache for several threads."""

    __slots__ = ("_cache", "_lock")

    def __init__(self, most_bytes: int) -> None:
        self._cache: BoundedCache[K, V] = BoundedCache(most_bytes)
        self._lock = allocate_lock()

    def __len__(self) -> int:
        return len(self._cache)

    def get(self, key: K, make: Callable[[], V], size: int) -> V:
        """The value of a key, made if it is not there; all callers get the same one."""
        with self._lock:
            known = self._cache.get(key)
        if known is not None:
            return known
        value = make()  # without the lock: another thread would wait as long
        with self._lock:
            known = self._cache.get(key)
            if known is None:
                self._cache.put(key, value, size)
        return value if known is None else known


LONGEST = 256
"""How many characters a text has at most to be remembered. Names and paths are shorter."""

_T = TypeVar("_T")


def cached_for_short_texts(
    entries: int, longest: int = LONGEST
) -> Callable[[Callable[[str], _T]], Callable[[str], _T]]:
    """Remember the results of a function for its last short texts; for long ones it is called each time."""

    def decorate(function: Callable[[str], _T]) -> Callable[[str], _T]:
        remembered = lru_cache(entries)(function)

        @wraps(function)
        def call(text: str) -> _T:
            return remembered(text) if len(text) <= longest else function(text)

        return call

    return decorate


class IdentityCache(Generic[V]):
    """Results of one function; may be used by several threads."""

    __slots__ = ("_cache", "_compute", "_lock", "_size")

    def __init__(self, most_bytes: int, compute: Callable[[Any], V], size: Callable[[V], int]) -> None:
        """`size` says how many bytes the object behind a result takes."""
        self._cache: BoundedCache[int, tuple[Any, V]] = BoundedCache(most_bytes)
        self._compute = compute
        self._size = size
        self._lock = allocate_lock()

    def get(self, obj: Any) -> V:
        with self._lock:
            known = self._cache.get(id(obj))
        if known is not None:
            return known[1]
        result = self._compute(obj)
        with self._lock:
            self._cache.put(id(obj), (obj, result), self._size(result))
        return result
