"""What controllers do takes time: ask again until it has happened."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = {"embedded": 5.0, "real": 100.0}
"""The controllers of a real cluster look for new kinds every half minute only; ours have no excuse."""

_server = "real"


def waiting_for(server: str) -> None:
    """Set the server to wait for."""
    global _server
    _server = server


def eventually(condition: Callable[[], Any]) -> Any:
    """The first true answer; the test fails where none comes."""
    seconds = PATIENCE[_server]
    deadline = time.monotonic() + seconds
    pause = 0.01
    while not (answer := condition()):
        assert time.monotonic() < deadline, (
            f"it did not happen within {seconds:g} s; the last answer: {answer!r}"
        )
        time.sleep(pause)
        pause = min(pause * 1.5, 0.25)
    return answer
