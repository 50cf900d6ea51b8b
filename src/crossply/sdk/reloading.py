"""A function that is loaded again when one of its files changes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

from crossply.compose import messages
from crossply.errors import CrossplyError
from crossply.sdk import shim
from crossply.sdk.loading import Loaded, Served, load, unload

_PAUSE = 0.2
"""Seconds between two looks at the files."""

Look = tuple[tuple[int, int, int] | None, ...]


class Reloading:
    """The function of a file as the file is now; as it was while the file is broken."""

    def __init__(self, place: str, sdk: str = shim.AUTO, tell: Callable[[str], None] | None = None) -> None:
        self._place = place
        self._sdk = sdk
        self._tell = tell or (lambda _: None)
        self._busy = threading.Lock()
        self._loaded = load(place, sdk)
        self._seen = _look(self._loaded)
        self._next = time.monotonic() + _PAUSE
        self._log: Callable[[str], None] | None = None

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._loaded.function.name

    @name.setter
    def name(self, name: str) -> None:
        self._loaded.function.name = name

    @property
    def log(self) -> Callable[[str], None] | None:
        """Told the whole story of an exception."""
        return self._log

    @log.setter
    def log(self, log: Callable[[str], None] | None) -> None:
        self._log = self._loaded.function.log = log

    def run(self, request: messages.Request) -> messages.Response:
        """Answer a request of the engine in this process."""
        return self.now().run(request)

    def answer(self, data: bytes, context: Any = None) -> bytes:
        """Answer a request as bytes."""
        return self.now().answer(data, context)

    def now(self) -> Served:
        """The function of the files as they are."""
        if time.monotonic() >= self._next:
            with self._busy:
                self._load_again_if_changed()
        return self._loaded.function

    def _load_again_if_changed(self) -> None:
        self._next = time.monotonic() + _PAUSE
        seen = _look(self._loaded)
        if seen == self._seen:
            return
        self._seen = seen
        unload(self._loaded)
        try:
            self._loaded = load(self._place, self._sdk)
        except CrossplyError as problem:
            self._tell(f"{problem}; the function is the one of before")
            return
        self._loaded.function.log = self._log
        self._seen = _look(self._loaded)
        self._tell(f"loaded {self._place} again")


def _look(loaded: Loaded) -> Look:
    return tuple(map(_look_at, loaded.files))


def _look_at(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None  # an editor may be in the middle of replacing it
    return status.st_mtime_ns, status.st_size, status.st_ino
