"""Work on many objects in the event loop, in slices that leave it to others in between."""

from __future__ import annotations

import asyncio

SLICE_BYTES = 64 << 10
"""How much is worked on at a time: about a millisecond."""


class Slices:
    """Counts what was worked on since others had their turn."""

    __slots__ = ("_done",)

    def __init__(self) -> None:
        self._done = 0

    async def spend(self, weight: int) -> None:
        """Let others have their turn when enough was done."""
        self._done += weight
        if self._done >= SLICE_BYTES:
            self._done = 0
            await asyncio.sleep(0)
