"""Ends a run of a pipeline that takes too long, or whose composite resource is gone or being deleted.

It is checked between two calls of functions: each call has a deadline of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import orjson

from crossply.compose.errors import RunTooLong
from crossply.compose.object_metadata import name_of, namespace_of, uid_of
from crossply.kube.failures import Conflict
from crossply.kube.informer import Informer
from crossply.values import Object

RUN_SECONDS = 600.0
"""How long all the steps of a pipeline may take together."""


class RunDeadline:
    """When a run must have ended."""

    def __init__(self, seconds: float = RUN_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._end = clock() + seconds

    def check(self) -> None:
        """Raise when the time is over."""
        if self._clock() > self._end:
            raise RunTooLong(
                f"the pipeline has not ended after {self._seconds:g} seconds, which is the most for one run"
            )


class RunGuard:
    """Watches over one run for one composite resource."""

    def __init__(self, informer: Informer, xr: Object, deadline: RunDeadline | None = None) -> None:
        self._informer = informer
        self._place = (namespace_of(xr), name_of(xr))
        self._uid = uid_of(xr)
        self._last_data = informer.get(*self._place)
        # One that is too new for the watch, or only planned, is not in the informer: that says nothing.
        self._known = informer.uid(*self._place) == self._uid
        self._deadline = deadline or RunDeadline()

    def is_deleted(self) -> bool:
        """Whether the composite resource was in the informer, and is no longer."""
        return self._known and self._informer.uid(*self._place) != self._uid

    def check(self) -> None:
        """Raise when the run must not go on."""
        if self.is_deleted() or self._is_being_deleted():
            raise Conflict("the composite resource is being deleted")
        self._deadline.check()

    def _is_being_deleted(self) -> bool:
        data = self._informer.get(*self._place)
        if not self._known or data is None or data is self._last_data:
            return False
        self._last_data = data
        # Decoding is left for the few that may be: the word can also stand elsewhere.
        return b'"deletionTimestamp"' in data and "deletionTimestamp" in orjson.loads(data)["metadata"]
