"""Returns free memory to the system.

The C library keeps freed memory in small pieces. Without trimming, the server would stay as large as in its
busiest minute, and grow with each such minute because of fragmentation.
"""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable

_WORTHWHILE = 16 << 20
_DELAY_SECONDS = 0.5
_REST_SECONDS = 5.0
"""So long after trimming, what was freed since is given back, too, however little it is."""


class Trimmer:
    """Counts freed memory, and trims when it is worthwhile."""

    def __init__(self) -> None:
        self._freed = 0
        self._timer: asyncio.TimerHandle | None = None
        self._trim = _find_trim()

    def freed(self, size: int) -> None:
        self._freed += size
        if self._freed >= _WORTHWHILE and self._timer is None and self._trim is not None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY_SECONDS, self._give_back)

    def _give_back(self) -> None:
        self._freed = 0
        if self._trim is not None:
            self._trim(0)
        self._timer = asyncio.get_running_loop().call_later(_REST_SECONDS, self._give_back_rest)

    def _give_back_rest(self) -> None:
        self._timer = None
        if self._freed:
            self._give_back()


def _find_trim() -> Callable[[int], int] | None:
    """`malloc_trim`, where the C library has it."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
