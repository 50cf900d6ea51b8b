"""Lookups by key of which many are answered by one query."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

Row = tuple[Any, ...]
LARGEST_BATCH = 500


class BatchedLookup:
    """Collects the keys that are asked for while a query runs, and asks for all of them by the next.

    No answer is older than its question: a key that arrives after a query started waits for the next one.
    """

    def __init__(self, fetch: Callable[[list[str]], Awaitable[Sequence[Row]]]) -> None:
        self._fetch = fetch
        self._waiting: dict[str, asyncio.Future[Row | None]] = {}
        self._running: asyncio.Task[None] | None = None

    async def get(self, key: str) -> Row | None:
        """The row whose first column is the key."""
        future = self._waiting.get(key)
        if future is None:
            future = self._waiting[key] = asyncio.get_running_loop().create_future()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await asyncio.shield(future)  # others may wait for it

    async def _run(self) -> None:
        try:
            while self._waiting:
                keys = list(self._waiting)[:LARGEST_BATCH]
                await self._answer({key: self._waiting.pop(key) for key in keys})
        finally:
            self._running = None

    async def _answer(self, futures: dict[str, asyncio.Future[Row | None]]) -> None:
        try:
            rows = {row[0]: row for row in await self._fetch(list(futures))}
        except Exception as problem:  # noqa: BLE001  every caller gets it
            for future in futures.values():
                future.set_exception(problem)
                future.exception()  # its caller may have been cancelled: it counts as retrieved
            return
        for key, future in futures.items():
            future.set_result(rows.get(key))
