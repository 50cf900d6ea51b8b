"""Disk space reserved for deletions.

A deletion is a write too: it appends to the write-ahead log, and a checkpoint of that log may enlarge the
database. So a file of some megabytes is allocated beside the database, and removed when the disk is full.
Until it can be allocated again, only deletions and compactions are written.
"""

from __future__ import annotations

import contextlib
import os

from crossply.apiserver.storage.sqlite_errors import is_full_error

RESERVE_BYTES = 16 << 20
"""Enough to checkpoint the longest write-ahead log: one that is due, and one batch."""
_LARGEST_SHARE = 4
"""On a small disk, the reserve is this fraction of it."""
_LEAST_BYTES = 64 << 10


def reserve_path(database: str) -> str:
    """The path of the reserve of a database."""
    return f"{database}-reserve"


def first_reserve(path: str) -> None:
    """Allocate the reserve of a new database; a smaller one if the disk or a quota does not allow more."""
    size = _target_bytes(path)
    while size >= _LEAST_BYTES and not _allocate(path, size):
        size //= 2


class Reserve:
    """The reserve file. It belongs to the writer thread, once the store is open."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.bytes = _allocated_bytes(path) or _target_bytes(path)
        self.is_allocated = False
        self.restore()

    def restore(self) -> bool:
        """Allocate the file unless it exists; False if there is no space for it."""
        if not self.is_allocated:
            self.is_allocated = _allocated_bytes(self._path) >= self.bytes or _allocate(
                self._path, self.bytes
            )
        return self.is_allocated

    def release(self) -> None:
        """Release the space to the database."""
        self.is_allocated = False
        _remove(self._path)


def _target_bytes(path: str) -> int:
    disk = os.statvfs(os.path.dirname(path))
    return min(RESERVE_BYTES, disk.f_blocks * disk.f_frsize // _LARGEST_SHARE)


def _allocated_bytes(path: str) -> int:
    """The size of the file, if all of it is allocated."""
    try:
        status = os.stat(path)
    except OSError:
        return 0
    return status.st_size if status.st_blocks * 512 >= status.st_size else 0


def _allocate(path: str, size: int) -> bool:
    """Allocate the file; False if there is no space. Without support for allocation there is no reserve."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, size)
        finally:
            os.close(descriptor)
    except OSError as error:
        _remove(path)
        return not is_full_error(error)
    return True


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
