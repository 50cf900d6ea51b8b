"""The database file: made whole or not at all, opened by one process, written to by one thread."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import apsw

from crossply.apiserver.storage import rows
from crossply.apiserver.storage.directory import new_file
from crossply.apiserver.storage.entries import Entry, Event
from crossply.apiserver.storage.errors import StorageDamaged, StorageFailed, WouldOverwrite
from crossply.apiserver.storage.high_water_mark import HighWaterMark, MarkFile, mark_path, read_mark
from crossply.apiserver.storage.loading import State, check_structure, load
from crossply.apiserver.storage.lost_writes import check_mark_exists, check_revision, check_wal
from crossply.apiserver.storage.schema import APPLICATION_ID, migrate, read_meta, version_of, write_meta
from crossply.apiserver.storage.sqlite_errors import open_errors, write_errors
from crossply.apiserver.storage.sqlite_journal import CHECKPOINT_BYTES, PAGE_SIZE, SqliteJournal
from crossply.apiserver.storage.wal_file import WalContent, read_wal

if TYPE_CHECKING:
    from apsw import Connection

_HAS_MARK = "marked"
"""The name of the note in the database that there is a mark beside it."""


def open_database(path: str) -> tuple[SqliteJournal, State]:
    """Open a database that exists, check that nothing acknowledged is missing, and read it."""
    with open_errors():
        mark, wal = read_mark(mark_path(path)), read_wal(wal_path(path))
    check_wal(mark, wal, wal_path(path))
    with _opened(path) as connection:
        state = _start(connection)
        is_marked = _HAS_MARK in read_meta(connection)
        check_mark_exists(mark, is_marked, mark_path(path))
        check_revision(mark, state)
        marks = _first_mark(path, mark, wal, state)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        journal = SqliteJournal(connection, wal_path(path), marks)
        if not is_marked:
            _note_mark(connection, journal)
    return journal, state


def read_database(path: str) -> State:
    """Check and read a database, whatever the mark beside it says."""
    with _opened(path) as connection:
        state = _start(connection)
        connection.close()
    return state


def read_backup(path: str) -> State:
    """Check and read a database that must be a backup, not a copy of a server's files."""
    with _opened(path) as connection:
        state = _start(connection)
        is_copy = _HAS_MARK in read_meta(connection)
        connection.close()
    if is_copy:
        raise StorageFailed(
            "it is a copy of a server's database without the files beside it, so acknowledged writes may be "
            "missing",
            hint="take backups with crossply apiserver backup, or copy the whole directory data",
        )
    return state


def begin_lineage(path: str, lineage: str, revision: int) -> None:
    """Go on with the objects that can be read, without history, and from another revision."""
    with _opened(path) as connection:
        state = _start(connection)
        current = {entry.revision for entry in state.entries.values()}
        stored = [row[0] for row in connection.execute("SELECT revision FROM log")]
        with write_errors(), connection:
            rows.delete(connection, [number for number in stored if number not in current])
            write_meta(connection, "lineage", lineage)
            write_meta(connection, "compacted", str(revision))
        with write_errors():
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            # The mark is replaced last. If we are killed before, this can be repeated.
            MarkFile(mark_path(path), HighWaterMark(lineage, revision)).close()
        connection.close()


def wal_path(path: str) -> str:
    """Where SQLite keeps the write-ahead log of a database."""
    return f"{path}-wal"


def _first_mark(path: str, mark: HighWaterMark | None, wal: WalContent | None, state: State) -> MarkFile:
    """The mark of what was found. It includes writes that were under way when the last process ended."""
    with open_errors():
        if wal is None or not wal.frames:
            return MarkFile(mark_path(path), HighWaterMark(state.lineage, state.revision))
        # A process that was killed leaves frames that were written but not synced. From now on they are
        # served, and the mark claims them.
        _sync_file(wal_path(path))
        frames = mark.frames if mark and mark.salt == wal.salt else 0
        found = HighWaterMark(state.lineage, state.revision, wal.salt, frames, checkpointed=False)
        return MarkFile(mark_path(path), found)


def _note_mark(connection: Connection, journal: SqliteJournal) -> None:
    """Note in the database itself that there is a mark, so that its loss is noticed."""
    with write_errors(), connection:
        write_meta(connection, _HAS_MARK, "yes")
    journal.checkpoint()


@contextlib.contextmanager
def _opened(path: str) -> Iterator[Connection]:
    """A connection that stays open unless there is an error; then the files are left as they were."""
    was_clean = not os.path.exists(wal_path(path))
    with open_errors():
        connection = _connect(path)
        try:
            yield connection
        except BaseException:
            connection.close()
            if was_clean:
                _remove_empty(wal_path(path))
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
    # Until the database is known to be ours and whole, closing must not write to it either.
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
    connection.pragma("journal_size_limit", 4 * CHECKPOINT_BYTES)
    migrate(connection, version)
    return load(connection)


def create_database(path: str, lineage: str, revision: int, entries: Iterable[Entry] = ()) -> None:
    """Make a database that holds these entries and no history, whole or not at all."""
    if os.path.exists(path):
        raise WouldOverwrite(f"{path} exists already")
    with write_errors(), new_file(path) as partial:
        _fill(partial, lineage, revision, entries)


def _fill(path: str, lineage: str, revision: int, entries: Iterable[Entry]) -> None:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.pragma("page_size", PAGE_SIZE)
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
    _sync_file(path)


def _sync_file(path: str) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())
