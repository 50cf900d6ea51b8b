"""A child process, started and reaped without `subprocess`, whose import takes as long as half of Python."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from time import monotonic, sleep

DESCRIPTOR = 3
"""Where a child finds the descriptor that it is given."""
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_PAUSE = 0.0005


class ChildProcess:
    """A program in a session of its own, with nothing open but one descriptor."""

    __slots__ = ("_has_ended", "pid")

    def __init__(self, command: Sequence[str], descriptor: int, environ: Mapping[str, str]) -> None:
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
            (os.POSIX_SPAWN_DUP2, 0, 1),
            (os.POSIX_SPAWN_DUP2, 0, 2),
            (os.POSIX_SPAWN_DUP2, descriptor, DESCRIPTOR),
        ]
        # A session of its own: it must not receive signals of the user's terminal.
        self.pid = os.posix_spawn(
            command[0],
            list(command),
            dict(environ),
            file_actions=actions,
            setsid=True,
            setsigdef=_IGNORED_BY_PYTHON,
        )
        self._has_ended = False

    def is_alive(self) -> bool:
        if not self._has_ended:
            try:
                self._has_ended = os.waitpid(self.pid, os.WNOHANG)[0] != 0
            except ChildProcessError:
                self._has_ended = True  # reaped by somebody else
        return not self._has_ended

    def wait(self, seconds: float) -> None:
        """Wait until it has ended; after some seconds it is killed."""
        deadline = monotonic() + seconds
        while self.is_alive():
            if monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                deadline = monotonic() + seconds
            sleep(_PAUSE)
