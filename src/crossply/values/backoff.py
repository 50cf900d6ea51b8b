"""How long to wait before the next try: longer each time, and never all at the same moment."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

JITTER = 0.1
"""Waiting times vary by a tenth, so that those who failed together do not return together."""


def pause_after(failures: int, first: float, longest: float) -> float:
    """The seconds to wait after so many failures in a row: doubled with each, and the longest at most."""
    # The exponent is bounded: a series may go on for days.
    return min(first * 2.0 ** min(failures - 1, 60), longest)


class RetryPauses(NamedTuple):
    """Seconds between a failure and the next try: after the first failure, and at most."""

    first: float = 1.0
    longest: float = 30.0


class Backoff:
    """The waiting times of one series of failures."""

    __slots__ = ("_first", "_longest", "_random", "failures")

    def __init__(self, first: float, longest: float, chance: Callable[[], float] = random.random) -> None:
        self._first = first
        self._longest = longest
        self._random = chance
        self.failures = 0

    def next(self) -> float:
        """Note a failure; the seconds to wait after it."""
        self.failures += 1
        seconds = pause_after(self.failures, self._first, self._longest)
        return seconds * (1 - JITTER + 2 * JITTER * self._random())

    def reset(self) -> None:
        """Note a success."""
        self.failures = 0
