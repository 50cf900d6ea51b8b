"""Not the same thing ten thousand times: lines that are alike are counted when there are too many of them.

Alike are lines of the same controller that our code wrote in the same words or with the same error code; the
names and messages in them may differ. A burst of them is written, then a few a minute, each of which says how
many were held back. What is asked for with --debug is not limited.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable

from crossply.record.metrics import LINES_HELD_BACK
from crossply.record.run import current

BURST = 20
PAUSE = 5.0
"""Seconds between two lines once the burst is over; the burst is earned back as slowly."""
REMEMBERED = 1_000
HELD_BACK = "held_back"


class _Allowance:
    """How many lines of one sort may be written."""

    __slots__ = ("held_back", "left", "since")

    def __init__(self, now: float) -> None:
        self.left = float(BURST)
        self.since = now
        self.held_back = 0

    def take(self, now: float) -> bool:
        self.left = min(float(BURST), self.left + (now - self.since) / PAUSE)
        self.since = now
        if self.left < 1.0:
            self.held_back += 1
            return False
        self.left -= 1.0
        return True


class LineLimit(logging.Filter):
    """Lets a line pass, or counts it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._allowances: OrderedDict[tuple[str, ...], _Allowance] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written; it learns how many like it were not."""
        if record.levelno < logging.INFO:
            return True
        allowance = self._allowance(_sort(record))
        if not allowance.take(self._clock()):
            LINES_HELD_BACK.of(record.levelname.lower()).value += 1
            return False
        setattr(record, HELD_BACK, allowance.held_back)
        allowance.held_back = 0
        return True

    def _allowance(self, sort: tuple[str, ...]) -> _Allowance:
        found = self._allowances.get(sort)
        if found is None:
            found = self._allowances[sort] = _Allowance(self._clock())
            if len(self._allowances) > REMEMBERED:
                self._allowances.popitem(last=False)
        else:
            self._allowances.move_to_end(sort)
        return found


def _sort(record: logging.LogRecord) -> tuple[str, ...]:
    run = current()
    fields = getattr(record, "fields", {})
    return (record.name, str(record.msg), run.controller if run else "", str(fields.get("code", "")))
