"""Remembers what was computed of the objects used last, which are recognized by identity.

Comparing or hashing a large object costs as much as computing what is to be remembered. A remembered object
is held, so that no other one can get its identity; it must not be changed.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from crossply.values.bounded_cache import BoundedCache

V = TypeVar("V")


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
