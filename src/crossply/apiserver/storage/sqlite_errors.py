"""Converts errors of SQLite and the system to storage errors."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

import apsw

from crossply.apiserver.storage.errors import StorageDamaged, StorageFailed, StorageFull, StorageInUse

_NOT_OF_THE_FILE = (
    OSError,
    MemoryError,
    apsw.CantOpenError,
    apsw.FullError,
    apsw.IOError,
    apsw.NoMemError,
    apsw.PermissionsError,
    apsw.ReadOnlyError,
)
"""Errors that say nothing about the content of a database."""


def is_full_error(error: Exception) -> bool:
    return isinstance(error, apsw.FullError) or getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def write_errors() -> Iterator[None]:
    """Raise StorageFull or StorageFailed for a write that failed."""
    try:
        yield
    except (apsw.Error, OSError, MemoryError) as error:
        if is_full_error(error):
            raise StorageFull("the disk is full: the write was not kept") from error
        raise StorageFailed(f"the write could not be made durable: {_text(error)}") from error


@contextlib.contextmanager
def open_errors() -> Iterator[None]:
    """Raise StorageInUse, StorageFailed or StorageDamaged for a database that cannot be opened and read."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StorageInUse("another program has the database open") from error
    except _NOT_OF_THE_FILE as error:
        raise StorageFailed(f"the database cannot be opened: {_text(error)}") from error
    except (apsw.Error, ValueError, TypeError) as error:
        raise StorageDamaged(f"the database is damaged: {error}") from error


def _text(error: Exception) -> str:
    """Python's own MemoryError has no message."""
    return str(error) or "out of memory"
