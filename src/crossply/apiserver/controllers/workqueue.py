"""A workqueue: each item is processed once at a time, many items in parallel, failures with backoff."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from crossply.values.backoff import pause_after

Item = TypeVar("Item", bound=Hashable)

_FIRST_DELAY, _LONGEST_DELAY = 0.01, 60.0
_QUICK_TRIES = 3
_log = logging.getLogger(__name__)


class WorkQueue(Generic[Item]):
    """Calls `handle` for every item that is added.

    An item that is added while it is queued is processed once; one that is added while it is processed is
    processed again, so that no change is missed. Tasks exist only while there is work.
    """

    def __init__(self, handle: Callable[[Item], Awaitable[None]], at_once: int = 32) -> None:
        self._handle = handle
        self._at_once = at_once
        self._waiting: dict[Item, None] = {}
        self._busy: dict[Item, asyncio.Task[None]] = {}
        self._added_while_busy: set[Item] = set()
        self._failures: dict[Item, int] = {}
        self._later: dict[Item, asyncio.TimerHandle] = {}
        self._closed = False

    def add(self, item: Item) -> None:
        if self._closed:
            return
        timer = self._later.pop(item, None)
        if timer is not None:
            timer.cancel()
        if item in self._busy:
            self._added_while_busy.add(item)
        else:
            self._waiting[item] = None
            self._start_work()

    def add_later(self, item: Item, seconds: float) -> None:
        """Add an item after a delay, unless it is added before."""
        if not self._closed and item not in self._later and item not in self._waiting:
            self._later[item] = asyncio.get_running_loop().call_later(seconds, self.add, item)

    @property
    def idle(self) -> bool:
        """Whether no item is queued or processed; items that failed repeatedly do not count."""
        soon = any(0 < self._failures.get(item, 0) <= _QUICK_TRIES for item in self._later)
        return not self._waiting and not self._busy and not soon

    async def close(self) -> None:
        """Drop queued items and cancel running ones."""
        self._closed = True
        self._waiting.clear()
        for timer in self._later.values():
            timer.cancel()
        tasks = list(self._busy.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start_work(self) -> None:
        while self._waiting and len(self._busy) < self._at_once and not self._closed:
            item = next(iter(self._waiting))
            del self._waiting[item]
            self._busy[item] = asyncio.get_running_loop().create_task(self._work(item))

    async def _work(self, item: Item) -> None:
        failed = False
        try:
            await self._handle(item)
            self._failures.pop(item, None)
        except Exception as problem:  # noqa: BLE001 - the item is retried after any error
            failed = True
            _log.debug("%s is tried again: %s", item, problem)
        finally:
            del self._busy[item]
            self._next(item, failed)

    def _next(self, item: Item, failed: bool) -> None:
        if item in self._added_while_busy:
            self._added_while_busy.discard(item)
            self.add(item)
        elif failed:
            tries = self._failures[item] = self._failures.get(item, 0) + 1
            self.add_later(item, pause_after(tries, _FIRST_DELAY, _LONGEST_DELAY))
        self._start_work()
