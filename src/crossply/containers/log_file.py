"""The output of a program, kept in a file of bounded size: the newest lines stay.

`crossply logs` reads it. A file that is full becomes `NAME.log.1`, and the one before that is removed.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable

from crossply.values.timestamps import current_timestamp

MAX_BYTES = 8 << 20
_TAIL_LINES = 12
_LONGEST_TAIL = 2000
_MARK = "crossply: "


def log_path(directory: str, kind: str, package: str) -> str:
    """Where the output of a package is kept; the kind is Provider or Function."""
    return os.path.join(directory, kind.lower(), f"{package}.log")


class LogFile:
    """Appends lines; without a path it only remembers the last ones."""

    def __init__(
        self, path: str, max_bytes: int = MAX_BYTES, listener: Callable[[str], None] | None = None
    ) -> None:
        """The listener gets every line that the program writes, from any thread."""
        self._path, self._max_bytes, self._listener = path, max_bytes, listener
        self._lock = threading.Lock()
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)

    def write(self, line: str) -> None:
        """Append a line that the program wrote."""
        line = line.rstrip("\n")
        with self._lock:
            self._tail.append(line)
            # A disk that is full must not end the program.
            with contextlib.suppress(OSError):
                self._append(f"{line}\n".encode())
        if self._listener is not None:
            self._listener(line)

    def note(self, message: str) -> None:
        """Append a line of our own, with the time."""
        with self._lock:
            self._tail.clear()
            with contextlib.suppress(OSError):
                self._append(f"{_MARK}{current_timestamp()} {message}\n".encode())

    def tail(self) -> str:
        """The last lines since the last note, as the end of a message."""
        with self._lock:
            text = "\n".join(line for line in self._tail if line.strip())
        return f": {text[-_LONGEST_TAIL:]}" if text else ""

    def _append(self, data: bytes) -> None:
        if not self._path:
            return
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        with open(os.open(self._path, flags, 0o600), "ab", buffering=0) as file:
            file.write(data)
            is_full = file.tell() > self._max_bytes
        if is_full:
            os.replace(self._path, f"{self._path}.1")
