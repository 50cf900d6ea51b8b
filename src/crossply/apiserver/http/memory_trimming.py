"""Giving memory back: the C library keeps what many connections and large answers have used, in small pieces.

Without this the server would look, a day after a busy minute, as large as in that minute, and grow a little
with each such minute, because what is free is scattered.
"""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable

_WORTHWHILE = 16 << 20
_DELAY_SECONDS = 0.5


class Trimmer:
    """Counts what was let go of, and gives it back when it is worthwhile."""

    def __init__(self) -> None:
        self._freed = 0
        self._timer: asyncio.TimerHandle | None = None
        self._trim = _find_trim()

    def freed(self, size: int) -> None:
        """So much memory is not used any more."""
        self._freed += size
        if self._freed >= _WORTHWHILE and self._timer is None and self._trim is not None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY_SECONDS, self._give_back)

    def _give_back(self) -> None:
        self._timer = None
        self._freed = 0
        if self._trim is not None:
            self._trim(0)


def _find_trim() -> Callable[[int], int] | None:
    """The C library's function, where it has one."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
