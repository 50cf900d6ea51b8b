"""Work by key: added as often as you like, done once at a time, and never forgotten.

A key that is added while it waits is not added again; one that is added while it is worked on is worked on
again afterwards. So a hundred changes of one object cost few runs, and the last change is always seen.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Hashable
from contextvars import Context
from typing import Generic, Protocol, TypeVar

from crossply.kube.backoff import Backoff, RetryPauses
from crossply.record.metrics import CONTROLLERS_STARTED, CONTROLLERS_STOPPED
from crossply.record.work_meter import AGAIN, ERROR, SUCCESS, WorkMeter

FIRST_PAUSE, LONGEST_PAUSE = RetryPauses()

K = TypeVar("K", bound=Hashable)
_log = logging.getLogger("crossply.kube")


class Timer(Protocol):
    """Something that will happen."""

    def cancel(self) -> None:
        """Unless this is called."""
        ...


class Clock(Protocol):
    """What time it is, and later; an asyncio event loop is one."""

    def time(self) -> float:
        """Seconds since whenever."""
        ...

    def call_later(self, delay: float, callback: Callable[..., object], /, *args: object) -> Timer:
        """Call it after so many seconds."""
        ...


class Queue(Generic[K]):
    """Keys that wait to be worked on."""

    def __init__(
        self,
        name: str = "unnamed",
        *,
        clock: Clock | None = None,
        first_pause: float = FIRST_PAUSE,
        longest_pause: float = LONGEST_PAUSE,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        """Whose work it is; figures are told under it."""
        self._meter = WorkMeter(name)
        self._clock = clock
        self._pauses = first_pause, longest_pause
        self._chance = chance
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._waiting: set[K] = set()
        self._working: set[K] = set()
        self._again: set[K] = set()
        self._timers: dict[K, tuple[float, Timer]] = {}
        self._failed: dict[K, Backoff] = {}
        self._retried: set[K] = set()
        self._resting: dict[K, float] = {}
        """The pauses under way after failures."""

    def __len__(self) -> int:
        """How many keys wait or are worked on; those that wait for a time are not counted."""
        return len(self._waiting) + len(self._working)

    def add(self, key: K) -> None:
        """Work on it soon."""
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._meter.added(key)
            self._ready.put_nowait(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Work on it after so many seconds; of several such wishes for a key the earliest counts."""
        if seconds <= 0:
            self.add(key)
            return
        clock = self._clock or asyncio.get_running_loop()
        due = clock.time() + seconds
        if key in self._timers:
            if self._timers[key][0] <= due:
                return
            self._timers[key][1].cancel()
        self._timers[key] = (due, clock.call_later(seconds, self._ring, key))

    def cancel(self, key: K) -> None:
        """Take back what `add_after` and `retry` have planned."""
        self._resting.pop(key, None)
        if key in self._timers:
            self._timers.pop(key)[1].cancel()

    def retry(self, key: K) -> float:
        """Work on it after a pause that grows with every round of failures; returns the pause.

        A failure during a pause belongs to the same round: the key was woken by an event, perhaps by the
        worker's own write, and must not rest longer for it.
        """
        self._retried.add(key)
        self._meter.retried()
        if key in self._resting:
            return self._resting[key]
        pause = self._resting[key] = self._failed.setdefault(key, Backoff(*self._pauses, self._chance)).next()
        self.add_after(key, pause)
        return pause

    def forget(self, key: K) -> None:
        """Its failures are over: the next pause is the shortest."""
        self._failed.pop(key, None)
        self._resting.pop(key, None)

    def failures(self, key: K) -> int:
        """How many rounds in a row it failed."""
        backoff = self._failed.get(key)
        return backoff.failures if backoff else 0

    async def run(self, worker: Callable[[K], Awaitable[None]], concurrency: int) -> None:
        """Work until cancelled, on so many keys at once.

        A worker that raises is tried again later; one that returns without having called `retry` has its
        failures forgotten.
        """
        CONTROLLERS_STARTED.of(self.name).value += 1
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrency):
                    # Work belongs to nobody who happened to start the queue.
                    group.create_task(self._work(worker), context=Context())
        finally:
            CONTROLLERS_STOPPED.of(self.name).value += 1

    async def _work(self, worker: Callable[[K], Awaitable[None]]) -> None:
        while True:
            key = await self._ready.get()
            self._waiting.discard(key)
            self._working.add(key)
            self._meter.begun(key)
            try:
                await self._work_on(worker, key)
            finally:
                self._meter.ended(key, self._result(key))
                self._retried.discard(key)
                self._working.discard(key)
                if key in self._again:
                    self._again.discard(key)
                    self.add(key)

    async def _work_on(self, worker: Callable[[K], Awaitable[None]], key: K) -> None:
        self._retried.discard(key)
        try:
            await worker(key)
        except Exception:  # noqa: BLE001 - whatever it was, the key must not be lost
            _log.exception("work on %s failed", key)
            self.retry(key)
        if key not in self._retried:
            self.forget(key)

    def _result(self, key: K) -> str:
        if key in self._retried:
            return ERROR
        return AGAIN if key in self._timers else SUCCESS

    def _ring(self, key: K) -> None:
        self._timers.pop(key, None)
        self._resting.pop(key, None)
        self.add(key)
