"""What controllers do takes time: ask again until it has happened."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.support.patience import PATIENCE

_SECONDS = max(PATIENCE, 100.0)
"""The controllers of a real cluster look for new kinds every half minute only."""


def eventually(condition: Callable[[], Any]) -> Any:
    """The first true answer; the test fails where none comes."""
    deadline = time.monotonic() + _SECONDS
    pause = 0.01
    while not (answer := condition()):
        assert time.monotonic() < deadline, (
            f"it did not happen within {_SECONDS:g} s; the last answer: {answer!r}"
        )
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
    return answer
