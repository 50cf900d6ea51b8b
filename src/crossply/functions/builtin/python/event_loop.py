"""An event loop without sockets for coroutines of scripts, which can await each other and timers."""

from __future__ import annotations

import time
from asyncio.base_events import BaseEventLoop
from collections.abc import Coroutine
from typing import Any


def run_coroutine(coroutine: Coroutine[Any, Any, Any]) -> None:
    loop = _ScriptLoop()
    try:
        loop.run_until_complete(coroutine)
    finally:
        loop.close()


class _ScriptLoop(BaseEventLoop):
    """asyncio's loop with a selector without file descriptors."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = self

    def select(self, timeout: float | None) -> list[Any]:
        """Wait for the next timer."""
        if timeout is None:
            raise RuntimeError("the script awaits something that never comes")
        time.sleep(max(timeout, 0))
        return []

    def _process_events(self, events: list[Any]) -> None:
        """There are no events."""

    def _write_to_self(self) -> None:
        """No other thread wakes the loop."""
