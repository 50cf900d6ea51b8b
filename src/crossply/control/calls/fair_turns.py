"""Who is called next where calls wait: callers take turns, and none takes all places.

Calls of one kind may take as long as a function is allowed to. With one queue for all, the calls of other
kinds would wait behind every one of them.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Hashable

_RESERVED = 8
"""One place in so many, and at least one, is for other callers than the busiest."""


class FairTurns:
    """A number of places for calls. Used in one event loop."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._most = max(places - max(places // _RESERVED, 1), 1)
        """How many places one caller may have."""
        self._running: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}
        """In the order in which callers are next."""

    async def acquire(self, caller: Hashable) -> None:
        """Wait for a place, and keep it until `release`."""
        if caller not in self._waiting and self._may_run(caller):
            self._take(caller)
            return
        granted = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(granted)
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self.release(caller)  # the place came in the same moment
            else:
                self._forget(caller, granted)
            raise

    def _may_run(self, caller: Hashable) -> bool:
        return self._free > 0 and self._running[caller] < self._most

    def _take(self, caller: Hashable) -> None:
        self._free -= 1
        self._running[caller] += 1

    def release(self, caller: Hashable) -> None:
        """Give a place back to those who wait."""
        self._free += 1
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        self._grant()

    def _grant(self) -> None:
        for caller in list(self._waiting):
            granted = self._next_of(caller) if self._may_run(caller) else None
            if granted is not None:
                self._take(caller)
                granted.set_result(None)
                return

    def _next_of(self, caller: Hashable) -> asyncio.Future[None] | None:
        """Who of a caller is next; the caller is behind all others then."""
        waiting = self._waiting.pop(caller)
        while waiting:
            granted = waiting.popleft()
            if not granted.cancelled():
                if waiting:
                    self._waiting[caller] = waiting
                return granted
        return None

    def _forget(self, caller: Hashable, granted: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(caller, deque())
        if granted in waiting:
            waiting.remove(granted)
        if not waiting:
            self._waiting.pop(caller, None)
