"""The files of functions that run from this machine's disk: who edits one sees at once what it does now.

An answer stays good for a while, so that nobody would ask an edited function anything. So the files are
looked at twice a second, as long as there are such functions; and once they changed, and then stayed as they
are for one look, their function is asked anew by everybody who calls it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from crossply.control.calls.ways import Way
from crossply.functions.binding import sources_of
from crossply.functions.source_files import SourceFiles

_EVERY = 0.5


class Sources:
    """The files of the functions that are called, by the way in which they are."""

    def __init__(self, edited: Callable[[str], None]) -> None:
        """`edited` is told the name of a function."""
        self._edited = edited
        self._files: dict[Way, SourceFiles] = {}
        self._in_the_middle: set[Way] = set()
        """Those that changed when they were looked at last."""

    def watch(self, way: Way) -> None:
        """Look at the files of a function from now on, where it has any."""
        words = sources_of(way.as_function())
        if words:
            self._files[way] = SourceFiles(words, time.monotonic)

    def forget(self, way: Way) -> None:
        """Look at them no longer."""
        self._files.pop(way, None)
        self._in_the_middle.discard(way)

    async def run(self) -> None:
        """Look, for ever."""
        while True:
            await asyncio.sleep(_EVERY)
            for way, files in list(self._files.items()):
                changed = await asyncio.to_thread(files.changed)
                if self._files.get(way) is files:
                    self._note(way, bool(changed))

    def _note(self, way: Way, changed: bool) -> None:
        if changed:
            self.watch(way)
            self._in_the_middle.add(way)
        elif way in self._in_the_middle:
            self._in_the_middle.remove(way)
            self._edited(way.function)
