"""A rate limiter with a burst for each kind of message.

Each kind has a bucket of its own, so that a frequent one does not silence the others. The buckets that were
not used for longest are dropped first, which restores their burst.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

_REMEMBERED = 10_000


class _Bucket:
    """What one sort has left."""

    __slots__ = ("dropped", "left", "since")

    def __init__(self, left: float, now: float) -> None:
        self.left = left
        self.since = now
        self.dropped = 0


class RateLimiter:
    """Lets a burst of each sort pass, then one whenever a pause is over."""

    def __init__(self, burst: int, pause: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = float(burst)
        self._pause = pause
        self._clock = clock
        self._known: OrderedDict[Hashable, _Bucket] = OrderedDict()

    def take(self, sort: Hashable) -> int | None:
        """None where it must be held back; else how many were held back since the last that was not."""
        now = self._clock()
        bucket = self._bucket(sort, now)
        bucket.left = min(self._burst, bucket.left + (now - bucket.since) / self._pause)
        bucket.since = now
        if bucket.left < 1.0:
            bucket.dropped += 1
            return None
        bucket.left -= 1.0
        dropped, bucket.dropped = bucket.dropped, 0
        return dropped

    def _bucket(self, sort: Hashable, now: float) -> _Bucket:
        bucket = self._known.get(sort)
        if bucket is None:
            bucket = self._known[sort] = _Bucket(self._burst, now)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(sort)
        return bucket
