"""Watches the files of functions that run from this machine's disk, so that an edit takes effect at once.

Without it, the cached response of an edited function would be used until it expires. The files are checked
twice a second while such functions are in use. Once they changed, and then did not change for one interval,
all callers of their function are enqueued.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from crossply.control.calls.endpoint import Endpoint
from crossply.functions.binding import sources_of
from crossply.functions.source_watcher import SourceFiles

_INTERVAL = 0.5


class SourceWatch:
    """The files of the functions in use, by endpoint."""

    def __init__(self, edited: Callable[[str], None]) -> None:
        """`edited` is called with the name of a function."""
        self._edited = edited
        self._files: dict[Endpoint, SourceFiles] = {}
        self._unsettled: set[Endpoint] = set()
        """Those that had changed at the last check."""

    def add(self, endpoint: Endpoint) -> None:
        """Watch the files of a function, if it has any."""
        words = sources_of(endpoint.as_function())
        if words:
            self._files[endpoint] = SourceFiles(words, time.monotonic)

    def remove(self, endpoint: Endpoint) -> None:
        self._files.pop(endpoint, None)
        self._unsettled.discard(endpoint)

    async def run(self) -> None:
        """Check the files until cancelled."""
        while True:
            await asyncio.sleep(_INTERVAL)
            for endpoint, files in list(self._files.items()):
                changed = await asyncio.to_thread(files.changed)
                if self._files.get(endpoint) is files:
                    self._checked(endpoint, bool(changed))

    def _checked(self, endpoint: Endpoint, changed: bool) -> None:
        if changed:
            self.add(endpoint)
            self._unsettled.add(endpoint)
        elif endpoint in self._unsettled:
            self._unsettled.remove(endpoint)
            self._edited(endpoint.function)
