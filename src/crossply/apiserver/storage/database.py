"""The database file: made whole or not at all, opened by one process, written to by one thread."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import apsw

from crossply.apiserver.storage import rows
from crossply.apiserver.storage.entries import Entry, Event
from crossply.apiserver.storage.errors import (
    StorageDamaged,
    StorageFailed,
    StorageFull,
    StorageInUse,
    WouldOverwrite,
)
from crossply.apiserver.storage.loading import State, check_structure, load
from crossply.apiserver.storage.schema import APPLICATION_ID, migrate, version_of, write_meta

if TYPE_CHECKING:
    from apsw import Connection

_CHECKPOINT_BYTES = 2 << 20
_PAGE_SIZE = 8192


class SqliteJournal:
    """The journal in a SQLite database (WAL, every commit synced)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._written = 0

    def commit(self, events: Sequence[Event]) -> None:
        """One statement is one transaction: it returns when the log is synced to the disk."""
        with _told_as_failure():
            rows.insert(self._connection, events)
        self._written += sum([len(event.data) for event in events]) + _PAGE_SIZE

    def purge(self, revisions: Sequence[int], compacted: int) -> None:
        """Remove rows and say so, in one transaction."""
        with _told_as_failure(), self._connection:
            rows.delete(self._connection, revisions)
            write_meta(self._connection, "compacted", str(compacted))
        self._written += _PAGE_SIZE

    def tidy(self) -> None:
        """Move the write-ahead log into the database now and then, when nobody waits for an answer.

        It may fail (a full disk): nothing is lost by that, the log only grows and is moved the next time.
        """
        if self._written < _CHECKPOINT_BYTES:
            return
        self._written = 0
        with contextlib.suppress(apsw.Error):
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def close(self) -> None:
        """Close the database; this also moves the write-ahead log into it."""
        self._connection.close()


def open_database(path: str) -> tuple[SqliteJournal, State]:
    """Open a database that exists, check all of it, and read it."""
    clean = not os.path.exists(f"{path}-wal")
    with _told_as_damage():
        connection = _connect(path)
    try:
        with _told_as_damage():
            return SqliteJournal(connection), _start(connection)
    except BaseException:
        connection.close()
        if clean:
            _remove_empty(f"{path}-wal")
        raise


def _remove_empty(path: str) -> None:
    """Looking at a database makes an empty log beside it; a database that is refused stays as it was."""
    with contextlib.suppress(OSError):
        if os.path.getsize(path) == 0:
            os.unlink(path)


def _connect(path: str) -> Connection:
    if os.path.getsize(path) == 0:
        # Databases are made whole under another name, so an empty one has lost its content.
        raise StorageDamaged("the database is damaged: the file is empty")
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    # Until the version is known to be ours, closing must not write to the database either.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.pragma("locking_mode", "exclusive")
    return connection


def _start(connection: Connection) -> State:
    version = version_of(connection)
    check_structure(connection)
    if connection.pragma("journal_mode", "wal") != "wal":
        raise StorageFailed("the file system of the data directory does not support a write-ahead log")
    connection.pragma("synchronous", "full")
    # Checkpoints are made by `tidy`, after the writers have their answer.
    connection.pragma("wal_autocheckpoint", 0)
    connection.pragma("journal_size_limit", 4 * _CHECKPOINT_BYTES)
    migrate(connection, version)
    state = load(connection)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    return state


def create_database(path: str, lineage: str, revision: int, entries: Iterable[Entry] = ()) -> None:
    """Make a database that holds these entries and no history, whole or not at all."""
    if os.path.exists(path):
        raise WouldOverwrite(f"{path} exists already")
    partial = f"{path}.partial"
    with _told_as_failure():
        os.close(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
        try:
            _fill(partial, lineage, revision, entries)
            os.rename(partial, path)
        except BaseException:
            os.unlink(partial)
            raise
        sync_directory(os.path.dirname(path))


def _fill(path: str, lineage: str, revision: int, entries: Iterable[Entry]) -> None:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.pragma("page_size", _PAGE_SIZE)
        connection.pragma("journal_mode", "off")
        connection.pragma("synchronous", "off")
        connection.pragma("application_id", APPLICATION_ID)
        migrate(connection, 0)
        with connection:
            write_meta(connection, "lineage", lineage)
            write_meta(connection, "compacted", str(revision))
            rows.fill(
                connection, (Event(entry.revision, "ADDED", entry.key, entry.data) for entry in entries)
            )
    finally:
        connection.close()
    with open(path, "rb") as written:
        os.fsync(written.fileno())


def sync_directory(path: str) -> None:
    """Make names in a directory durable."""
    descriptor = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _told_as_failure() -> Iterator[None]:
    """What SQLite and the system say about a write, in our words."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        if isinstance(error, apsw.FullError) or getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull("the disk is full: the write was not kept") from error
        raise StorageFailed(f"the write could not be made durable: {error}") from error


@contextlib.contextmanager
def _told_as_damage() -> Iterator[None]:
    """What SQLite says while a database is opened and read, in our words."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StorageInUse("another program has the database open") from error
    except (apsw.CantOpenError, apsw.IOError, apsw.FullError, apsw.PermissionsError, OSError) as error:
        raise StorageFailed(f"the database cannot be opened: {error}") from error
    except (apsw.Error, ValueError, TypeError) as error:
        raise StorageDamaged(f"the database is damaged: {error}") from error
