"""The lock of a data directory: held as long as `crossply up` or its API server runs on it.

It is an flock on a file that is never deleted. The API server inherits it. Getting the lock means
that both have ended, however they did. The file says which process is to be asked to stop.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import NamedTuple

from crossply.cli.local_control_plane.data_directory import LOCK_FILE, read_saved
from crossply.cli.local_control_plane.failures import AlreadyRunning
from crossply.cli.local_control_plane.process_identity import Process, start_time

_RECORD_BYTES = 64
_PAUSE = 0.05
_PREDECESSOR_SECONDS = 40.0
"""How long the API server of a control plane that was killed may take to finish its requests."""


class UpLock(NamedTuple):
    """A lock that this process holds."""

    descriptor: int

    def release(self) -> None:
        """Let others have it, as soon as those who inherited it have ended."""
        _record(self.descriptor, "")
        os.close(self.descriptor)


def acquire(data: str) -> UpLock:
    """Lock a directory and say that this process did; raises AlreadyRunning."""
    descriptor = _open(data, os.O_RDWR | os.O_CREAT)
    end = time.monotonic() + _PREDECESSOR_SECONDS
    while not _try_lock(descriptor, fcntl.LOCK_EX):
        owner = running(data)
        if owner is not None or time.monotonic() > end:
            os.close(descriptor)
            suffix = f": process {owner.pid}" if owner is not None else ""
            raise AlreadyRunning(f"a control plane runs on {data} already{suffix}")
        time.sleep(_PAUSE)
    _record(descriptor, f"{os.getpid()} {start_time(os.getpid())}")
    return UpLock(descriptor)


def is_locked(data: str) -> bool:
    """Whether a control plane, or what is left of one, runs on a directory."""
    try:
        descriptor = _open(data, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _try_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def running(data: str) -> Process | None:
    """The `crossply up` that holds the lock of a directory; None where there is none, or it is starting."""
    process = recorded(data) if is_locked(data) else None
    return process if process is not None and holds(process, data) else None


def recorded(data: str) -> Process | None:
    """The process that the lock file names, if it runs. A writer of the file can name any."""
    pid, _, started = read_saved(data, LOCK_FILE).partition(" ")
    if not pid.isdecimal() or not 0 < int(pid[:10]) < 1 << 31 or not started:
        return None
    process = Process(int(pid), started)
    return process if process.is_alive() else None


def holds(process: Process, data: str) -> bool:
    """Whether a process has the lock file open, as the holder of the lock does."""
    return process.has_open(os.path.join(data, LOCK_FILE))


def _record(descriptor: int, owner: str) -> None:
    """Record the owner of the lock. The file keeps its size, so this works on a full disk."""
    with contextlib.suppress(OSError):
        os.pwrite(descriptor, f"{owner.ljust(_RECORD_BYTES - 1)}\n".encode(), 0)


def _open(data: str, flags: int) -> int:
    return os.open(os.path.join(data, LOCK_FILE), flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _try_lock(descriptor: int, operation: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
        return True
    return False
