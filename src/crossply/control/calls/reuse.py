"""Answers of functions that are still good: the same question within its time to live is not asked again.

A function that fails fatally is asked again each time: somebody may have mended it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from crossply.compose.messages import SECOND, Request, Response
from crossply.compose.requirements import is_fatal
from crossply.compose.wire import encode_response, request_tag
from crossply.control.calls.kept_answers import KeptAnswers
from crossply.values.bounded_cache import BoundedCache

_MOST_BYTES = 64 << 20
"""How much memory the answers take that are kept, roughly."""
_VALUE_BYTES = 120
"""About how much a map entry or an item of a list takes when it is decoded, however small it is encoded."""


class Answer(NamedTuple):
    """What a function said, and for how many seconds it stays good; 0 means for ever, or this once."""

    response: Response
    good_for: float = 0.0


class Answers:
    """The last answers, by function and question."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.kept: KeptAnswers | None = None
        """Those on disk, where they are to survive a restart."""
        self._clock = clock
        self._known: BoundedCache[tuple[str, str], tuple[float, Response]] = BoundedCache(_MOST_BYTES)

    def find(self, function: str, request: Request, kept_as: str = "") -> Answer | None:
        """The answer to the same question, if it is still good; `kept_as` is the function's name on disk."""
        tag = request_tag(request)
        known = self._known.get((function, tag))
        if known is not None and known[0] > self._clock():
            return Answer(known[1], known[0] - self._clock())
        if self.kept is None or not kept_as:
            return None
        kept = self.kept.find(kept_as, tag)
        return None if kept is None else self._remember(function, tag, *kept)

    def keep(self, function: str, request: Request, response: Response, kept_as: str = "") -> Answer:
        """Remember an answer as long as its function says."""
        seconds = (response.ttl or 0) / SECOND
        if seconds <= 0 or is_fatal(response):
            return Answer(response)
        tag = request_tag(request)
        if self.kept is not None and kept_as:
            self.kept.keep(kept_as, tag, request, response, seconds)
        return self._remember(function, tag, response, seconds)

    def _remember(self, function: str, tag: str, response: Response, seconds: float) -> Answer:
        if not isinstance(response.tag, str):
            # The request would stay in memory with its answer.
            response = response._replace(tag=request_tag(response.tag))
        until = self._clock() + seconds
        self._known.put((function, tag), (until, response), _memory_of(encode_response(response)))
        return Answer(response, seconds)

    def forget(self) -> None:
        """Ask anew: functions are not what they were."""
        self._known.clear()


def _memory_of(encoded: bytes) -> int:
    """About how many bytes an answer takes: all entries of maps and items of lists begin with one tag."""
    return len(encoded) + _VALUE_BYTES * encoded.count(b"\n")
