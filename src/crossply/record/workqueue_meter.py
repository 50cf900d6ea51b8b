"""Counting what a queue does: how much waits, how long it waits, how long it takes and how it ends."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Hashable
from typing import ClassVar

from crossply.record.prometheus import Counter, DurationHistogram, Gauge, MetricFamily, Reading

SUCCESS, ERROR, REQUEUE_AFTER = "success", "error", "requeue_after"
"""Results of a reconcile: done, failed, or requeued after a time."""

_LABELS = ("controller", "name")
_QUEUE_SECONDS = tuple(float(f"1e{power}") for power in range(-8, 4))
_FINE = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_COARSE = (1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0)
_RECONCILE_SECONDS = (*_FINE, *_COARSE, 30.0, 40.0, 50.0, 60.0)

_meters: weakref.WeakSet[WorkMeter] = weakref.WeakSet()
"""Of the queues that exist."""


def _workers() -> Reading:
    return _sums(lambda meter: len(meter.working), lambda name: (name,))


class WorkMeter:
    """The figures of one queue, under the name of its controller."""

    ADDS = Counter("workqueue_adds_total", "Objects added to the queue.", *_LABELS)
    RETRIES = Counter("workqueue_retries_total", "Objects to be tried again after a pause.", *_LABELS)
    WAITED = DurationHistogram(
        "workqueue_queue_duration_seconds",
        "How long objects waited before they were worked on.",
        *_LABELS,
        bounds=_QUEUE_SECONDS,
    )
    WORKED = DurationHistogram(
        "workqueue_work_duration_seconds",
        "How long objects were worked on.",
        *_LABELS,
        bounds=_QUEUE_SECONDS,
    )
    RECONCILES = Counter(
        "controller_runtime_reconcile_total", "Reconciles, by how they ended.", "controller", "result"
    )
    ERRORS = Counter("controller_runtime_reconcile_errors_total", "Reconciles that failed.", "controller")
    SECONDS = DurationHistogram(
        "controller_runtime_reconcile_time_seconds",
        "How long reconciles took.",
        "controller",
        bounds=_RECONCILE_SECONDS,
    )
    ACTIVE = Gauge("controller_runtime_active_workers", "Reconciles under way.", "controller", read=_workers)
    FAMILIES: ClassVar[tuple[MetricFamily, ...]] = (
        RECONCILES,
        ERRORS,
        SECONDS,
        ACTIVE,
        ADDS,
        RETRIES,
        WAITED,
        WORKED,
    )

    def __init__(self, name: str, clock: Callable[[], float] = time.perf_counter) -> None:
        self.name = name
        self.clock = clock
        self.waiting: dict[Hashable, float] = {}
        self.working: dict[Hashable, float] = {}
        self._adds = self.ADDS.of(name, name)
        self._retries = self.RETRIES.of(name, name)
        self._waited = self.WAITED.of(name, name)
        self._worked = self.WORKED.of(name, name)
        self._errors = self.ERRORS.of(name)
        self._seconds = self.SECONDS.of(name)
        self._ends = {result: self.RECONCILES.of(name, result) for result in (SUCCESS, ERROR, REQUEUE_AFTER)}
        _meters.add(self)

    def added(self, key: Hashable) -> None:
        """It waits from now on."""
        self._adds.value += 1
        self.waiting.setdefault(key, self.clock())

    def retried(self) -> None:
        """The object is retried later."""
        self._retries.value += 1

    def work_started(self, key: Hashable) -> None:
        """A reconcile of the object starts."""
        now = self.working[key] = self.clock()
        self._waited.add(now - self.waiting.pop(key, now))

    def work_finished(self, key: Hashable, result: str) -> None:
        """A reconcile of the object is over."""
        seconds = self.clock() - self.working.pop(key)
        self._worked.add(seconds)
        self._seconds.add(seconds)
        self._ends[result].value += 1
        if result == ERROR:
            self._errors.value += 1


def waiting() -> Reading:
    """How many objects wait, by queue."""
    return _sums(lambda meter: len(meter.waiting), _twice)


def unfinished() -> Reading:
    """How long what is under way has taken so far, by queue."""
    return _sums(lambda meter: sum(_ages(meter)), _twice)


def longest() -> Reading:
    """How long the oldest of what is under way has taken so far, by queue."""
    return _sums(lambda meter: max(_ages(meter), default=0.0), _twice)


def _ages(meter: WorkMeter) -> list[float]:
    now = meter.clock()
    return [now - start for start in meter.working.values()]


def _twice(name: str) -> tuple[str, ...]:
    return (name, name)


def _sums(read: Callable[[WorkMeter], float], labels: Callable[[str], tuple[str, ...]]) -> Reading:
    """A queue that ends and the one that follows it may have the same name for a moment."""
    totals: dict[str, float] = {}
    for meter in list(_meters):
        totals[meter.name] = totals.get(meter.name, 0.0) + read(meter)
    return [(labels(name), total) for name, total in sorted(totals.items())]
