"""A function that is reloaded when one of its files changes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

from crossply.compose import function_messages
from crossply.errors import CrossplyError
from crossply.sdk import shim
from crossply.sdk.function_file import Loaded, Served, load, unload

_PAUSE = 0.2
"""Seconds between two checks of the files."""

FileStamps = tuple[tuple[int, int, int] | None, ...]


class ReloadingFunction:
    """The function of a file. While the file is broken, the last working version is used."""

    def __init__(
        self, place: str, sdk: str = shim.AUTO, log_line: Callable[[str], None] | None = None
    ) -> None:
        self._location = place
        self._sdk = sdk
        self._log_line = log_line or (lambda _: None)
        self._busy = threading.Lock()
        self._load_yaml = load(place, sdk)
        self._known_stamps = _stamps(self._load_yaml)
        self._next = time.monotonic() + _PAUSE
        self._log: Callable[[str], None] | None = None

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._load_yaml.function.name

    @name.setter
    def name(self, name: str) -> None:
        self._load_yaml.function.name = name

    @property
    def log(self) -> Callable[[str], None] | None:
        """Called with the traceback of an exception."""
        return self._log

    @log.setter
    def log(self, log: Callable[[str], None] | None) -> None:
        self._log = self._load_yaml.function.log = log

    def run(self, request: function_messages.Request) -> function_messages.Response:
        """Answer a request of the engine in this process."""
        return self.now().run(request)

    def answer(self, data: bytes, context: Any = None) -> bytes:
        """Answer a request as bytes."""
        return self.now().answer(data, context)

    def now(self) -> Served:
        """The function of the current files."""
        if time.monotonic() >= self._next:
            with self._busy:
                self._reload_if_changed()
        return self._load_yaml.function

    def _reload_if_changed(self) -> None:
        self._next = time.monotonic() + _PAUSE
        stamps = _stamps(self._load_yaml)
        if stamps == self._known_stamps:
            return
        self._known_stamps = stamps
        unload(self._load_yaml)
        try:
            self._load_yaml = load(self._location, self._sdk)
        except CrossplyError as problem:
            self._log_line(f"{problem}; the function is the one of before")
            return
        self._load_yaml.function.log = self._log
        self._known_stamps = _stamps(self._load_yaml)
        self._log_line(f"loaded {self._location} again")


def _stamps(loaded: Loaded) -> FileStamps:
    return tuple(map(_stamp, loaded.files))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None  # an editor may be replacing it
    return status.st_mtime_ns, status.st_size, status.st_ino
