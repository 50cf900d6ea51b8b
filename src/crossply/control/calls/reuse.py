"""Answers of functions that are still good: the same question within its time to live is not asked again.

A function that fails fatally is asked again each time: somebody may have mended it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from crossply.compose.messages import SECOND, Request, Response
from crossply.compose.requirements import is_fatal
from crossply.compose.wire import request_tag

_MOST = 4096


class Answer(NamedTuple):
    """What a function said, and for how many seconds it stays good; 0 means for ever, or this once."""

    response: Response
    good_for: float = 0.0


class Answers:
    """The last answers, by function and question."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[tuple[str, str], tuple[float, Response]] = OrderedDict()

    def find(self, function: str, request: Request) -> Answer | None:
        """The answer to the same question, if it is still good."""
        known = self._known.get((function, request_tag(request)))
        if known is None or known[0] <= self._clock():
            return None
        return Answer(known[1], known[0] - self._clock())

    def keep(self, function: str, request: Request, response: Response) -> Answer:
        """Remember an answer as long as its function says."""
        seconds = (response.ttl or 0) / SECOND
        if seconds <= 0 or is_fatal(response):
            return Answer(response)
        key = (function, request_tag(request))
        self._known[key] = (self._clock() + seconds, response)
        self._known.move_to_end(key)
        if len(self._known) > _MOST:
            self._known.popitem(last=False)
        return Answer(response, seconds)

    def forget(self) -> None:
        """Ask anew: functions are not what they were."""
        self._known.clear()
