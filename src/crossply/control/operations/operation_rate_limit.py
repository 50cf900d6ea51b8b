"""A limit to how many Operations a WatchOperation makes: one that changes what it watches never ends.

Each watched object has a bucket of tokens, and so has the WatchOperation as a whole; an Operation costs one
of each. Without tokens a change waits, and of several changes of an object only the last counts. No change
is lost. A condition says which object is held up, and why.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from crossply.compose.events import StatusCondition
from crossply.compose.object_metadata import name_of, namespace_of
from crossply.control.operations.operation_reconciler import MANAGER
from crossply.values import Object

RESPONSIVE = "Responsive"
CLOSED = StatusCondition(RESPONSIVE, "True", "WatchCircuitClosed")
LOOP, TOO_MANY = "OperationLoop", "TooManyOperations"
_REMEMBERED = 10_000
_CALM = 0.5
"""The part of its burst that a bucket has when its object is no longer reported as throttled."""

Key = tuple[str, str]


class Rate(NamedTuple):
    """So many at once, and then one in so many seconds."""

    burst: float
    seconds: float


class OperationRateLimits(NamedTuple):
    """How many Operations are too many."""

    per_object: Rate = Rate(10.0, 10.0)
    """For one watched object."""
    total: Rate = Rate(100.0, 1.0)
    """For all that a WatchOperation watches."""


class _Bucket:
    """Tokens that come back with time."""

    __slots__ = ("_rate", "_since", "_tokens")

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate = rate
        self._tokens = rate.burst
        self._since = now

    def seconds_until(self, tokens: float, now: float) -> float:
        """The seconds until there are so many tokens; 0 where there are."""
        earned = (now - self._since) / self._rate.seconds
        self._tokens, self._since = min(self._rate.burst, self._tokens + earned), now
        return max(tokens - self._tokens, 0.0) * self._rate.seconds

    def take(self) -> None:
        self._tokens -= 1.0

    @property
    def calm(self) -> float:
        return self._rate.burst * _CALM


class OperationRateLimit:
    """The buckets of one WatchOperation."""

    def __init__(
        self,
        limits: OperationRateLimits = OperationRateLimits(),  # noqa: B008 - it is immutable
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._total = _Bucket(limits.total, clock())
        self._buckets: OrderedDict[Key, _Bucket] = OrderedDict()
        self._delayed: dict[Key, StatusCondition] = {}
        """Throttled objects, and the message about each."""

    def take(self, obj: Object) -> float:
        """Spend what an Operation for an object costs, or give the seconds until it may be made."""
        key, now = (namespace_of(obj), name_of(obj)), self._clock()
        bucket = self._bucket(key, now)
        for limit, condition in (
            (bucket, self._object_condition(obj)),
            (self._total, self._total_condition(obj)),
        ):
            wait = limit.seconds_until(1.0, now)
            if wait > 0:
                self._delayed.setdefault(key, condition)
                return wait
        bucket.take()
        self._total.take()
        return 0.0

    def condition(self) -> StatusCondition:
        """What a WatchOperation says about it: the first object that is held up."""
        return next(iter(self._delayed.values()), CLOSED)

    def settle(self) -> float:
        """Forget what is calm again; the seconds until the next is, 0 where nothing is held up."""
        now, waits = self._clock(), []
        for key in list(self._delayed):
            limits = (self._bucket(key, now), self._total)
            wait = max(limit.seconds_until(limit.calm, now) for limit in limits)
            if wait > 0:
                waits.append(wait)
            else:
                del self._delayed[key]
        return min(waits, default=0.0)

    def _bucket(self, key: Key, now: float) -> _Bucket:
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(self._limits.per_object, now)
            if len(self._buckets) > _REMEMBERED:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return bucket

    def _object_condition(self, obj: Object) -> StatusCondition:
        pace = f"at most one Operation every {self._limits.per_object.seconds:.0f} s is made for it"
        if is_written_by_operation(obj):
            message = (
                f"Operations change {_named(obj)}, which makes further Operations: {pace}. Have the function "
                "want nothing where there is nothing to do, or watch less: spec.watch.matchLabels"
            )
            return StatusCondition(RESPONSIVE, "False", LOOP, message)
        message = f"{_named(obj)} changes too often: {pace}. Watch less: spec.watch.matchLabels"
        return StatusCondition(RESPONSIVE, "False", TOO_MANY, message)

    def _total_condition(self, obj: Object) -> StatusCondition:
        message = (
            f"Too many changes: at most one Operation every {self._limits.total.seconds:.0f} s is made, and "
            f"{_named(obj)} is among what waits. Watch less: spec.watch.matchLabels"
        )
        return StatusCondition(RESPONSIVE, "False", TOO_MANY, message)


def is_written_by_operation(obj: Object) -> bool:
    """Whether the last who wrote an object was an Operation, according to its managed fields."""
    entries = obj["metadata"].get("managedFields") or ()
    latest = max((str(entry.get("time", "")) for entry in entries), default="")
    writers = [str(entry.get("manager", "")) for entry in entries if entry.get("time", "") == latest]
    return any(writer.startswith(MANAGER) for writer in writers)


def _named(obj: Object) -> str:
    place = f" in namespace {namespace_of(obj)}" if namespace_of(obj) else ""
    return f"{obj.get('kind', '')} {name_of(obj)}{place}"
