"""The database file: created completely or not at all, opened by one process, written by one thread."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import apsw

from crossply.apiserver.storage import log_rows as rows
from crossply.apiserver.storage.data_directory import new_file, sync_directory
from crossply.apiserver.storage.disk_reserve import Reserve, reserve_path
from crossply.apiserver.storage.entries import Entry, Event
from crossply.apiserver.storage.errors import StorageDamaged, StorageFailed, WouldOverwrite
from crossply.apiserver.storage.high_water_mark import HighWaterMark, MarkFile, mark_path, read_mark
from crossply.apiserver.storage.log_loading import CREATED_WITH, State, check_structure, load
from crossply.apiserver.storage.log_rows import RowTotals
from crossply.apiserver.storage.lost_write_detection import (
    check_mark_exists,
    check_revision,
    check_totals,
    check_wal,
)
from crossply.apiserver.storage.schema import (
    APPLICATION_ID,
    delete_meta,
    migrate,
    read_meta,
    transaction,
    version_of,
    write_meta,
)
from crossply.apiserver.storage.sqlite_errors import open_errors, write_errors
from crossply.apiserver.storage.sqlite_journal import CHECKPOINT_BYTES, PAGE_SIZE, SqliteJournal
from crossply.apiserver.storage.value_codec import OPAQUE, PLAIN, ValueCodec
from crossply.apiserver.storage.wal_file import WalContent, read_wal

if TYPE_CHECKING:
    from apsw import Connection

_HAS_MARK = "marked"
"""The meta key that says that a high-water mark exists."""
_IS_ENCRYPTED = "encrypted"
"""The meta key that says that new objects are encrypted."""


def open_database(path: str, codec: ValueCodec = PLAIN) -> tuple[SqliteJournal, State]:
    """Open an existing database, check that no acknowledged write is missing, and read it."""
    with open_errors():
        mark, wal = read_mark(mark_path(path)), read_wal(wal_path(path))
    check_wal(mark, wal, wal_path(path))
    with _opened(path) as connection:
        state = _start(connection, codec)
        is_marked = _HAS_MARK in read_meta(connection)
        check_mark_exists(mark, is_marked, mark_path(path))
        check_revision(mark, state)
        check_totals(mark, state, connection)
        marks = _first_mark(path, mark, wal, state)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        reserve = Reserve(reserve_path(path))
        journal = SqliteJournal(connection, wal_path(path), marks, reserve, codec, state.totals)
        _note_encryption(connection, codec)
        if not is_marked:
            _note_mark(connection, journal)
    return journal, state


def read_database(path: str, codec: ValueCodec = PLAIN) -> State:
    """Check and read a database, ignoring its high-water mark."""
    with _opened(path) as connection:
        state = _start(connection, codec)
        connection.close()
    return state


def read_backup(path: str, codec: ValueCodec) -> State:
    """Check and read a database that must be a backup, not a copy of a server's files."""
    with _opened(path) as connection:
        state = _start(connection, codec)
        is_copy = _HAS_MARK in read_meta(connection)
        connection.close()
    if is_copy:
        raise StorageFailed(
            "it is a copy of a server's database without the files beside it, so acknowledged writes may be "
            "missing",
            hint="take backups with crossply apiserver backup, or copy the whole directory data",
        )
    return state


def start_lineage(path: str, lineage: str, revision: int) -> None:
    """Continue with the readable objects, without history, and from another revision."""
    with _opened(path) as connection:
        state = _start(connection, OPAQUE)
        current = {entry.revision for entry in state.entries.values()}
        stored = [row[0] for row in connection.execute("SELECT revision FROM log")]
        with write_errors(), transaction(connection):
            rows.delete(connection, [number for number in stored if number not in current])
            write_meta(connection, "lineage", lineage)
            write_meta(connection, "compacted", str(revision))
        with write_errors():
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            # The mark is replaced last, so that this can be repeated after a crash.
            MarkFile(mark_path(path), HighWaterMark(lineage, revision)).close()
        connection.close()


def wal_path(path: str) -> str:
    """The path of SQLite's write-ahead log."""
    return f"{path}-wal"


def _first_mark(path: str, mark: HighWaterMark | None, wal: WalContent | None, state: State) -> MarkFile:
    """The mark of what was read. It includes writes that were pending when the last process ended."""
    with open_errors():
        if wal is None or not wal.frames:
            return MarkFile(
                mark_path(path), HighWaterMark(state.lineage, state.revision, totals=state.totals)
            )
        # A process that was killed leaves frames that were written but not synced. From now on they are
        # served, and the mark includes them.
        _sync_file(wal_path(path))
        frames = mark.frames if mark and mark.salt == wal.salt else 0
        current = HighWaterMark(
            state.lineage, state.revision, wal.salt, frames, checkpointed=False, totals=state.totals
        )
        return MarkFile(mark_path(path), current)


def _note_mark(connection: Connection, journal: SqliteJournal) -> None:
    """Record in the database that a mark exists, so that its loss is detected."""
    with write_errors(), transaction(connection):
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
    """Remove the empty log that reading created, so that a refused database stays as it was."""
    with contextlib.suppress(OSError):
        if os.path.getsize(path) == 0:
            os.unlink(path)


def _connect(path: str) -> Connection:
    if os.path.getsize(path) == 0:
        # Databases are created under another name and renamed, so an empty one has lost its content.
        raise StorageDamaged("the database is damaged: the file is empty")
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    # Until the database is known to be valid, closing must not write to it either.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.pragma("locking_mode", "exclusive")
    return connection


def _start(connection: Connection, codec: ValueCodec) -> State:
    version = version_of(connection)
    check_structure(connection)
    if connection.pragma("journal_mode", "wal") != "wal":
        raise StorageFailed("the file system of the data directory does not support a write-ahead log")
    connection.pragma("synchronous", "full")
    # `tidy` makes checkpoints, after the writers have their responses.
    connection.pragma("wal_autocheckpoint", 0)
    connection.pragma("journal_size_limit", 4 * CHECKPOINT_BYTES)
    migrate(connection, version)
    codec.accept_store(_IS_ENCRYPTED in read_meta(connection))
    return load(connection, codec)


def _note_encryption(connection: Connection, codec: ValueCodec) -> None:
    was_encrypted = _IS_ENCRYPTED in read_meta(connection)
    is_encrypted = codec.accept_store(was_encrypted)
    if is_encrypted == was_encrypted:
        return
    with write_errors(), transaction(connection):
        if is_encrypted:
            write_meta(connection, _IS_ENCRYPTED, "yes")
        else:
            delete_meta(connection, _IS_ENCRYPTED)


def create_database(
    path: str, lineage: str, revision: int, entries: Iterable[Entry] = (), codec: ValueCodec = PLAIN
) -> None:
    """Create a database with these entries and no history, completely or not at all."""
    if os.path.exists(path):
        raise WouldOverwrite(f"{path} exists already")
    events = (Event(entry.revision, "ADDED", entry.key, entry.data) for entry in entries)
    with write_errors(), new_file(path) as partial:
        with _filling(partial) as connection:
            write_meta(connection, "lineage", lineage)
            write_meta(connection, "compacted", str(revision))
            totals = RowTotals(revision).with_rows(list(rows.fill(connection, events, codec)))
            write_meta(connection, CREATED_WITH, totals.as_text())
        _sync_file(partial)


def partial_path(path: str) -> str:
    """The path under which the successor of a database is built."""
    return f"{path}.partial"


@contextlib.contextmanager
def new_database(path: str) -> Iterator[Connection]:
    """An empty database to fill, which replaces another one when the block ends without an error.

    Whenever the process or the machine stops, either the old or the new one is complete.
    """
    partial = partial_path(path)
    with write_errors():
        os.close(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
        try:
            with _filling(partial) as connection:
                yield connection
            _sync_file(partial)
            os.rename(partial, path)
        except BaseException:
            os.unlink(partial)
            raise
        sync_directory(os.path.dirname(path))


@contextlib.contextmanager
def _filling(path: str) -> Iterator[Connection]:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.pragma("page_size", PAGE_SIZE)
        connection.pragma("journal_mode", "off")
        connection.pragma("synchronous", "off")
        connection.pragma("application_id", APPLICATION_ID)
        migrate(connection, 0)
        with transaction(connection):
            yield connection
    finally:
        connection.close()


def _sync_file(path: str) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())
