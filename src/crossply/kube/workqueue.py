"""A workqueue: keys are added as often as you like, processed once at a time, and never lost.

A key that is added while it waits is not added again; one that is added while it is processed is processed
again afterwards. So a hundred changes of one object cost few reconciles, and the last change is always seen.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Hashable
from contextvars import Context
from typing import Generic, Protocol, TypeVar

from crossply.record.control_plane_metrics import CONTROLLERS_STARTED, CONTROLLERS_STOPPED
from crossply.record.workqueue_meter import ERROR, REQUEUE_AFTER, SUCCESS, WorkMeter
from crossply.values.backoff import Backoff, RetryPauses

FIRST_PAUSE, LONGEST_PAUSE = RetryPauses()
_SOON_FACTOR, _SOON_LONGEST = 1.3, 3.0
"""How the pause of `retry_soon` grows, and the seconds that it never exceeds."""

K = TypeVar("K", bound=Hashable)
_log = logging.getLogger("crossply.kube")


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """The call does not happen."""
        ...


class Clock(Protocol):
    """The time, and timers; an asyncio event loop is one."""

    def time(self) -> float:
        """Seconds since some moment."""
        ...

    def call_later(self, delay: float, callback: Callable[..., object], /, *args: object) -> Timer:
        """Call it after so many seconds."""
        ...


class Workqueue(Generic[K]):
    """Keys that wait to be processed."""

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
        """The controller whose queue it is; the label of its metrics."""
        self._meter = WorkMeter(name)
        self._clock = clock
        self._pauses = first_pause, longest_pause
        self._chance = chance
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._waiting: set[K] = set()
        self._processing: set[K] = set()
        self._dirty: set[K] = set()
        """Keys that were added while they were processed."""
        self._timers: dict[K, tuple[float, Timer]] = {}
        self._failed: dict[K, Backoff] = {}
        self._retried: set[K] = set()
        """Keys for which `retry` was called since processing began."""
        self._backing_off: dict[K, float] = {}
        """The pauses under way after failures."""
        self._retried_soon: dict[K, int] = {}
        """How often in a row `retry_soon` was called."""

    def __len__(self) -> int:
        """How many keys wait or are processed; those that wait for a time are not counted."""
        return len(self._waiting) + len(self._processing)

    def add(self, key: K) -> None:
        """Process it soon."""
        if key in self._processing:
            self._dirty.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._meter.added(key)
            self._ready.put_nowait(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Process it after so many seconds; of several such calls for a key the earliest counts."""
        if seconds <= 0:
            self.add(key)
            return
        clock = self._clock or asyncio.get_running_loop()
        time = clock.time() + seconds
        if key in self._timers:
            if self._timers[key][0] <= time:
                return
            self._timers[key][1].cancel()
        self._timers[key] = (time, clock.call_later(seconds, self._ring, key))

    def cancel(self, key: K) -> None:
        """Take back what `add_after` and `retry` have scheduled."""
        self._backing_off.pop(key, None)
        if key in self._timers:
            self._timers.pop(key)[1].cancel()

    def retry(self, key: K) -> float:
        """Process it after a pause that grows with every round of failures; returns the pause.

        A failure during a pause belongs to the same round: the key was added by an event, perhaps by the
        worker's own write, and must not wait longer for it.
        """
        self._retried.add(key)
        self._meter.retried()
        if key in self._backing_off:
            return self._backing_off[key]
        backoff = self._failed.setdefault(key, Backoff(*self._pauses, self._chance))
        pause = self._backing_off[key] = backoff.next()
        self.add_after(key, pause)
        return pause

    def retry_soon(self, key: K, first: float) -> None:
        """Process it again after a short pause that grows slowly: what it needs comes any moment.

        This is no failure. The pauses grow so that a writer that conflicts again and again comes through.
        """
        times = self._retried_soon.get(key, 0)
        self._retried_soon[key] = times + 1
        self.add_after(key, min(first * _SOON_FACTOR ** min(times, 20), _SOON_LONGEST))

    def forget(self, key: K) -> None:
        """Its failures are over: the next pause is the shortest."""
        self._failed.pop(key, None)
        self._backing_off.pop(key, None)

    def failures(self, key: K) -> int:
        """How many rounds in a row it failed."""
        backoff = self._failed.get(key)
        return backoff.failures if backoff else 0

    async def run(self, worker: Callable[[K], Awaitable[None]], concurrency: int) -> None:
        """Process keys until cancelled, so many at once.

        A worker that raises is retried later; one that returns without having called `retry` has its
        failures forgotten.
        """
        CONTROLLERS_STARTED.of(self.name).value += 1
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(concurrency):
                    # Work does not belong to the run that happened to start the queue.
                    group.create_task(self._process_all(worker), context=Context())
        finally:
            CONTROLLERS_STOPPED.of(self.name).value += 1

    async def _process_all(self, worker: Callable[[K], Awaitable[None]]) -> None:
        while True:
            key = await self._ready.get()
            self._waiting.discard(key)
            self._processing.add(key)
            self._meter.work_started(key)
            try:
                await self._process(worker, key)
            finally:
                self._meter.work_finished(key, self._result(key))
                self._retried.discard(key)
                self._processing.discard(key)
                if key in self._dirty:
                    self._dirty.discard(key)
                    self.add(key)

    async def _process(self, worker: Callable[[K], Awaitable[None]], key: K) -> None:
        self._retried.discard(key)
        times = self._retried_soon.get(key, 0)
        try:
            await worker(key)
        except Exception:  # noqa: BLE001 - whatever it was, the key must not be lost
            _log.exception("reconcile of %s failed unexpectedly", key)
            self.retry(key)
        if key not in self._retried:
            self.forget(key)
        if self._retried_soon.get(key, 0) == times:
            self._retried_soon.pop(key, None)

    def _result(self, key: K) -> str:
        if key in self._retried:
            return ERROR
        return REQUEUE_AFTER if key in self._timers else SUCCESS

    def _ring(self, key: K) -> None:
        self._timers.pop(key, None)
        self._backing_off.pop(key, None)
        self.add(key)
