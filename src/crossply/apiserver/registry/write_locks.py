"""Serializes the writers of one large object.

A write builds on the state it has read, and starts over when another writer was faster. That is rare with
small objects. With large ones most of the work would be wasted: of twenty writers that start together,
nineteen compute in vain, and then eighteen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from crossply.apiserver.event_loop_offloading import HEAVY_BYTES
from crossply.apiserver.storage import Key


class WriteLocks:
    """One lock for each large object that is being written."""

    __slots__ = ("_locks", "_users")

    def __init__(self) -> None:
        self._locks: dict[Key, asyncio.Lock] = {}
        self._users: dict[Key, int] = {}

    @asynccontextmanager
    async def acquire(self, key: Key, weight: int) -> AsyncIterator[None]:
        """Wait for earlier writers of the object, in order, if a write of this weight is heavy."""
        if weight < HEAVY_BYTES:
            yield
            return
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._users[key] = self._users.get(key, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key], self._locks[key]
