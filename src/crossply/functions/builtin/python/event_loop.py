"""An event loop without sockets, for coroutines of scripts: they can await each other and the time."""

from __future__ import annotations

import time
from asyncio.base_events import BaseEventLoop
from collections.abc import Coroutine
from typing import Any


def finish(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine to its end."""
    loop = _QuietLoop()
    try:
        loop.run_until_complete(coroutine)
    finally:
        loop.close()


class _QuietLoop(BaseEventLoop):
    """asyncio's loop with a selector that has nothing to select from."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = self

    def select(self, timeout: float | None) -> list[Any]:
        """Wait for the next thing that is due; there is nothing else to wait for."""
        if timeout is None:
            raise RuntimeError("the script awaits something that never comes")
        time.sleep(max(timeout, 0))
        return []

    def _process_events(self, events: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""
