"""Writers of one large object take turns.

A write builds on the state it has read, and begins again when another writer was faster. With small objects
that is rare. With large ones most of the work would be thrown away: of twenty writers that begin together,
nineteen have computed in vain, and then eighteen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from crossply.apiserver.background import HEAVY_BYTES
from crossply.apiserver.storage import Key


class WriteTurns:
    """A lock for each object that is being written, while it is."""

    __slots__ = ("_locks", "_users")

    def __init__(self) -> None:
        self._locks: dict[Key, asyncio.Lock] = {}
        self._users: dict[Key, int] = {}

    @asynccontextmanager
    async def turn(self, key: Key, weight: int) -> AsyncIterator[None]:
        """Wait for other writers of the object, if a write of this weight is heavy. The first come first."""
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
