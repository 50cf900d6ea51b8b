"""Warnings for the operator, rate limited: the same message is logged once a minute, with a count.

A message never contains what a client sent: more people read a log than a Secret.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

_INTERVAL_SECONDS = 60.0
_MOST_MESSAGES = 256
_log = logging.getLogger("crossply.apiserver")


class RateLimitedLog:
    """Logs each message at most once a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged_at: dict[str, float] = {}
        self._suppressed: dict[str, int] = {}

    def warn(self, message: str) -> None:
        """Log a warning, unless the same was logged within a minute."""
        now = self._clock()
        logged_at = self._logged_at.get(message)
        if logged_at is not None and now - logged_at < _INTERVAL_SECONDS:
            self._suppressed[message] = self._suppressed.get(message, 0) + 1
            return
        if len(self._logged_at) >= _MOST_MESSAGES:
            self._logged_at.clear()
            self._suppressed.clear()
        self._logged_at[message] = now
        count = self._suppressed.pop(message, 0)
        _log.warning("%s%s", message, f" (and {count} times more since it was last said)" if count else "")

    def internal_error(self, operation: str, problem: BaseException) -> None:
        """Log an internal error by its type and place; its text could repeat what a client sent."""
        self.warn(f"internal error in {operation}: {type(problem).__name__} at {_place(problem)}")


def _place(problem: BaseException) -> str:
    step, places = problem.__traceback__, []
    while step is not None:
        file = "/".join(step.tb_frame.f_code.co_filename.split("/")[-2:])
        places.append(f"{file}:{step.tb_lineno}")
        step = step.tb_next
    return " > ".join(places[-4:]) or "an unknown place"
