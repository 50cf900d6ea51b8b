"""Not the same thing ten thousand times: lines that are alike are counted when there are too many of them.

Alike are lines of the same controller that our code wrote in the same words or with the same error code; the
names and messages in them may differ. A burst of them is written, then a few a minute, each of which says how
many were held back. What is asked for with --debug is not limited.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from crossply.record.metrics import LINES_HELD_BACK
from crossply.record.rate_limit import Allowances
from crossply.record.run_context import current

BURST = 20
PAUSE = 5.0
"""Seconds between two lines once the burst is over; the burst is earned back as slowly."""
HELD_BACK = "held_back"


class LineLimit(logging.Filter):
    """Lets a line pass, or counts it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._allowances = Allowances(BURST, PAUSE, clock)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written; it learns how many like it were not."""
        if record.levelno < logging.INFO:
            return True
        held_back = self._allowances.take(_sort(record))
        if held_back is None:
            LINES_HELD_BACK.of(record.levelname.lower()).value += 1
            return False
        setattr(record, HELD_BACK, held_back)
        return True


def _sort(record: logging.LogRecord) -> tuple[str, ...]:
    run = current()
    fields = getattr(record, "fields", {})
    return (record.name, str(record.msg), run.controller if run else "", str(fields.get("code", "")))
