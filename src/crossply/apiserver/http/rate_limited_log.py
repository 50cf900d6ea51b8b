"""What the operator is told, without a flood: the same complaint is logged once a minute, with a count.

A complaint never holds what a client sent: a log is read by more people than a Secret.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

_QUIET_SECONDS = 60.0
_REMEMBERED = 256
_log = logging.getLogger("crossply.apiserver")


class Complaints:
    """Things that went wrong lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[str, float] = {}
        self._unsaid: dict[str, int] = {}

    def say(self, what: str) -> None:
        """Log a complaint, unless the same was logged a moment ago."""
        now = self._clock()
        said = self._said.get(what)
        if said is not None and now - said < _QUIET_SECONDS:
            self._unsaid[what] = self._unsaid.get(what, 0) + 1
            return
        if len(self._said) >= _REMEMBERED:
            self._said.clear()
            self._unsaid.clear()
        self._said[what] = now
        again = self._unsaid.pop(what, 0)
        _log.warning("%s%s", what, f" (and {again} times more since it was last said)" if again else "")

    def mistake(self, where: str, problem: BaseException) -> None:
        """Log an error of our own by its kind and place; its text could repeat what a client sent."""
        self.say(f"internal error in {where}: {type(problem).__name__} at {_place(problem)}")


def _place(problem: BaseException) -> str:
    step, places = problem.__traceback__, []
    while step is not None:
        file = "/".join(step.tb_frame.f_code.co_filename.split("/")[-2:])
        places.append(f"{file}:{step.tb_lineno}")
        step = step.tb_next
    return " > ".join(places[-4:]) or "an unknown place"
