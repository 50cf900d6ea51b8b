"""Rewrites all objects with the current codec: after a key was added, or encryption turned on or off.

The database is copied into a new file that then replaces it. So no page of the old one, with deleted objects
or plain text, is left in any file; and a process that is killed leaves either the old or the new one
complete. History is copied too, and revisions stay, so watches continue.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple, cast
from urllib.parse import quote

import apsw

from crossply.apiserver.storage import log_rows as rows
from crossply.apiserver.storage.data_directory import DATABASE, DirectoryLock, has_database
from crossply.apiserver.storage.database import new_database, open_database, partial_path, wal_path
from crossply.apiserver.storage.entries import Event, EventType
from crossply.apiserver.storage.errors import StorageFailed
from crossply.apiserver.storage.high_water_mark import MarkFile, mark_path, read_mark
from crossply.apiserver.storage.log_loading import CREATED_WITH, State
from crossply.apiserver.storage.schema import read_meta, write_meta
from crossply.apiserver.storage.sqlite_errors import write_errors
from crossply.apiserver.storage.sqlite_journal import SqliteJournal
from crossply.apiserver.storage.value_codec import ValueCodec


class Reencrypted(NamedTuple):
    rewritten: int
    """How many stored values were outdated; all values were rewritten unless this is 0."""
    objects: int
    """How many objects there are."""


def reencrypt(directory: str, codec: ValueCodec) -> Reencrypted:
    """Rewrite the store in a directory, which no server has open, with the codec."""
    if not os.path.isdir(directory) or not has_database(directory):
        raise StorageFailed(f"there is no database in {directory}")
    lock = DirectoryLock(directory)
    try:
        journal, state, rewritten = open_current(os.path.join(directory, DATABASE), codec)
        journal.close()
    finally:
        lock.release()
    return Reencrypted(rewritten, len(state.entries))


def open_current(path: str, codec: ValueCodec) -> tuple[SqliteJournal, State, int]:
    """Open a database after rewriting outdated values; also returns how many there were."""
    with write_errors(), contextlib.suppress(FileNotFoundError):
        # Left by a process that was killed while it copied: a complete database or nothing existed.
        os.unlink(partial_path(path))
    journal, state = open_database(path, codec)
    outdated = state.outdated
    if outdated:
        journal.close()
        _copy(path, codec)
        journal, state = open_database(path, codec)
    return journal, state, outdated


def _copy(path: str, codec: ValueCodec) -> None:
    if os.path.exists(wal_path(path)):
        raise StorageFailed("the write-ahead log could not be moved into the database")
    # The totals change with the stored form, and both files must match the mark.
    mark = read_mark(mark_path(path))
    if mark is not None:
        MarkFile(mark_path(path), mark._replace(totals=None)).close()
    # Opened as immutable, the source creates no files; without a log, it is complete.
    with new_database(path) as target, contextlib.closing(_open_immutable(path)) as source:
        for name, value in read_meta(source).items():
            if name != CREATED_WITH:
                write_meta(target, name, value)
        for _ in rows.fill(target, _events(source, codec), codec):
            pass


def _open_immutable(path: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(path)}?immutable=1", flags=flags)


def _events(source: apsw.Connection, codec: ValueCodec) -> Iterator[Event]:
    for row in rows.read(source):
        data = codec.decode(row.key, row.revision, row.value)
        yield Event(row.revision, cast("EventType", row.kind), row.key, data, None, row.previous)
