"""Calling a function with certificates that are renewed: a new line as soon as there are new ones.

Calls that are under way end on the old line, which is closed after the last of them.
"""

from __future__ import annotations

import os
import threading

from crossply.compose.messages import Request, Response
from crossply.functions.remote import Remote

_CERTIFICATE = "tls.crt"
Seen = tuple[int, int]
"""What tells one certificate from the next: the time of its file, and which file it is."""


class _Line:
    """A connection, the certificates that it was opened with, and how many calls are under way on it."""

    __slots__ = ("calls", "remote", "seen")

    def __init__(self, remote: Remote, seen: Seen) -> None:
        self.remote = remote
        self.seen = seen
        self.calls = 0


class FreshRemote:
    """A function behind gRPC with mutual TLS."""

    def __init__(self, name: str, target: str, certificates: str) -> None:
        self._name, self._target, self._certificates = name, target, certificates
        self._lock = threading.Lock()
        self._line: _Line | None = None

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call it with the newest certificates."""
        line = self._take()
        try:
            return line.remote(request, timeout)
        finally:
            self._give_back(line)

    def close(self) -> None:
        """Hang up once nobody is on the line."""
        with self._lock:
            line, self._line = self._line, None
            idle = line is not None and not line.calls
        if line is not None and idle:
            line.remote.close()

    def _take(self) -> _Line:
        seen = self._look()
        with self._lock:
            before, line = self._line, self._line
            if line is None or line.seen != seen:
                remote = Remote(self._name, self._target, self._certificates)
                line = self._line = _Line(remote, seen)
            line.calls += 1
            idle = before is not None and before is not line and not before.calls
        if before is not None and idle:
            before.remote.close()
        return line

    def _give_back(self, line: _Line) -> None:
        with self._lock:
            line.calls -= 1
            over = not line.calls and line is not self._line
        if over:
            line.remote.close()

    def _look(self) -> Seen:
        """What is there now; that it cannot be read is told when it is needed."""
        try:
            found = os.stat(os.path.join(self._certificates, _CERTIFICATE))
        except OSError:
            return (0, 0)
        return (found.st_mtime_ns, found.st_ino)
