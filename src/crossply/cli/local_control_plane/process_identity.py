"""Processes identified by PID and start time, because PIDs are reused."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import NamedTuple


class Process(NamedTuple):
    """A process, which may have ended."""

    pid: int
    started: str
    """As `start_time` says it."""

    def is_alive(self) -> bool:
        """Whether the process still runs: its PID exists with the same start time."""
        return start_time(self.pid) == self.started

    def has_open(self, path: str) -> bool:
        """Whether the process has a file open; False where that cannot be known."""
        if os.path.isdir("/proc/self/fd"):
            return _has_open(self.pid, path)
        import subprocess

        try:
            done = subprocess.run(["lsof", "-t", "--", path], capture_output=True, text=True, check=False)
        except OSError:
            return False
        return str(self.pid) in done.stdout.split()

    def terminate(self) -> bool:
        """Ask the process to end; False where it has ended already."""
        try:
            return self._terminate_open() if hasattr(os, "pidfd_open") else self._terminate()
        except ProcessLookupError:
            return False

    def _terminate_open(self) -> bool:
        # Opened before it is read: from then on the number cannot be reused unnoticed.
        descriptor = os.pidfd_open(self.pid)
        try:
            if not self.is_alive():
                return False
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        finally:
            os.close(descriptor)
        return True

    def _terminate(self) -> bool:
        if not self.is_alive():
            return False
        os.kill(self.pid, signal.SIGTERM)
        return True


def start_time(pid: int) -> str:
    """The start time of a process, in a form that depends on the system; empty if there is none."""
    if os.path.isdir("/proc/self"):
        return _from_proc(pid)
    import subprocess

    words = ["ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def _from_proc(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name of the program is in brackets and may have any character; the rest is numbers.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    is_zombie = fields[0] in (b"Z", b"X")
    return "" if is_zombie else fields[19].decode()


def _has_open(pid: int, path: str) -> bool:
    directory = f"/proc/{pid}/fd"
    try:
        file, descriptors = os.stat(path), os.listdir(directory)
    except OSError:
        return False
    for descriptor in descriptors:
        # It may be closed by now.
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(f"{directory}/{descriptor}"), file):
                return True
    return False
