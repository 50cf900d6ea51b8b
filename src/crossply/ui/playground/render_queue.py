"""Renderings one after the other: the latest of a browser tab counts, and few run at the same time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

CONCURRENT = 2
_MAX_TABS = 500


class Superseded(Exception):
    """A later rendering of the same tab has begun."""


class RenderQueue:
    """Runs blocking work in threads."""

    def __init__(self, concurrent: int = CONCURRENT) -> None:
        self._room = asyncio.Semaphore(concurrent)
        self._latest: OrderedDict[str, object] = OrderedDict()

    async def run(self, tab: str, work: Callable[[Callable[[], bool]], T]) -> T:
        """Run work in a thread; its argument returns whether a later rendering superseded it."""
        turn = self._latest[tab] = object()
        self._latest.move_to_end(tab)
        while len(self._latest) > _MAX_TABS:
            self._latest.popitem(last=False)

        def is_abandoned() -> bool:
            return self._latest.get(tab) is not turn

        async with self._room:
            if is_abandoned():
                raise Superseded
            return await asyncio.to_thread(work, is_abandoned)
