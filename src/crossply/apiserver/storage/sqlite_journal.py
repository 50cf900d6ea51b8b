"""The journal in a SQLite database: one transaction per group commit, and the mark that follows it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import apsw

from crossply.apiserver.storage import log_rows as rows
from crossply.apiserver.storage.disk_reserve import Reserve
from crossply.apiserver.storage.entries import NO_LAST_STATE, Event
from crossply.apiserver.storage.errors import StorageFull
from crossply.apiserver.storage.high_water_mark import MarkFile
from crossply.apiserver.storage.log_rows import RowTotals
from crossply.apiserver.storage.schema import transaction, write_meta
from crossply.apiserver.storage.sqlite_errors import is_full_error, write_errors
from crossply.apiserver.storage.value_codec import ValueCodec
from crossply.apiserver.storage.wal_file import NO_SALT, read_salt

if TYPE_CHECKING:
    from apsw import Connection

_FULL = "the disk is full: the write was not kept"
CHECKPOINT_BYTES = 2 << 20
PAGE_SIZE = 8192


class SqliteJournal:
    """The journal in a SQLite database (WAL, every commit synced)."""

    def __init__(
        self,
        connection: Connection,
        wal_path: str,
        marks: MarkFile,
        reserve: Reserve,
        codec: ValueCodec,
        totals: RowTotals,
    ) -> None:
        self._connection = connection
        self._wal_path = wal_path
        self._marks = marks
        self._reserve = reserve
        self._codec = codec
        self._totals: RowTotals | None = totals
        self._salt_may_change = True
        self._written = 0

    @property
    def is_full(self) -> bool:
        """Whether the reserve is in use, so that only writes that may use it are accepted."""
        return not self._reserve.is_allocated

    def commit(self, events: Sequence[Event]) -> None:
        """One statement is one transaction: it returns when the log is synced."""
        if self.is_full and not self._regained_space():
            raise StorageFull(_FULL)
        try:
            self._insert(events)
        except StorageFull:
            self._release_reserve()
            raise

    def commit_from_reserve(self, events: Sequence[Event]) -> None:
        """As `commit`, with the reserve, and without the last states of deleted objects."""
        small = [event._replace(data=NO_LAST_STATE) if event.type == "DELETED" else event for event in events]
        self._with_reserve(lambda: self._insert(small))

    def purge(self, revisions: Sequence[int], compacted: int) -> None:
        """Remove rows and record the compaction, in one transaction."""
        self._with_reserve(lambda: self._delete(revisions, compacted))

    def tidy(self) -> None:
        """Checkpoint the write-ahead log now and then, when no writer waits.

        A failure (a full disk) loses nothing: the log only grows until the next attempt. On a full disk this
        is done each time: the log then restarts and needs no space.
        """
        if not self._written or (self._written < CHECKPOINT_BYTES and not self.is_full):
            return
        self._written = 0
        self.checkpoint()

    def checkpoint(self) -> bool:
        """Checkpoint the write-ahead log; False if it was incomplete."""
        # From its first page on, a checkpoint mixes newer pages into the database: it is consistent again
        # only with all of these frames. Until then, the log could lose its end and leave an older state.
        mark = self._marks.mark
        # Afterwards SQLite may restart the log with another salt.
        self._salt_may_change = True
        try:
            frames, _ = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
            if frames > 0 and mark.salt != NO_SALT:
                mark = mark._replace(frames=frames)
                if not self._marks.put(mark):
                    return False
            frames, moved = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except (apsw.Error, MemoryError) as error:
            if not (is_full_error(error) and self._reserve.is_allocated):
                return False
            self._reserve.release()
            return self.checkpoint()
        return moved >= frames and self._marks.put(mark._replace(checkpointed=True))

    def close(self) -> None:
        """Close the database, which also checkpoints and removes the write-ahead log."""
        # The mark must allow for the missing log before it is removed, even after a power loss.
        # On a full disk the log stays: there may be no space for it at the next start.
        if not (self.checkpoint() and self._marks.sync()) or self.is_full:
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._connection.close()
        if not os.path.exists(self._wal_path):
            self._marks.put(self._marks.mark._replace(salt=NO_SALT, frames=0, checkpointed=True))
        self._marks.close()

    def abandon(self) -> None:
        """Leave the files as a killed process would."""
        with contextlib.suppress(Exception):
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self._connection.close()
        self._marks.close()

    def _insert(self, events: Sequence[Event]) -> None:
        size = sum([len(event.data) for event in events]) + PAGE_SIZE
        with write_errors():
            checksums = rows.insert(self._connection, events, self._codec)
        with self._after_commit(size):
            self._totals = self._totals and self._totals.with_rows(checksums)
            self._mark(events[-1].revision)

    def _delete(self, revisions: Sequence[int], compacted: int) -> None:
        with write_errors(), transaction(self._connection):
            checksums = rows.delete(self._connection, revisions)
            write_meta(self._connection, "compacted", str(compacted))
        # Each row may be on a page of its own.
        with self._after_commit(PAGE_SIZE * (1 + len(revisions))):
            self._totals = self._totals and self._totals.without_rows(checksums, compacted)
            self._mark(self._marks.mark.revision)

    @contextlib.contextmanager
    def _after_commit(self, size: int) -> Iterator[None]:
        """Update the totals after a commit, without raising: the commit is durable already.

        Without memory the older mark stays, and totals are not claimed any more.
        """
        self._written += size
        try:
            yield
        except MemoryError:
            self._totals = None

    def _with_reserve(self, write: Callable[[], None]) -> None:
        """Write; if the disk is full, again with the space of the reserve."""
        try:
            write()
        except StorageFull:
            self._release_reserve()
            write()

    def _release_reserve(self) -> None:
        """Make space for deletions: in the database, and in the log, which then restarts."""
        self._reserve.release()
        self.checkpoint()

    def _regained_space(self) -> bool:
        """Whether everything can be written again: the reserve is back, or the database has free pages.

        What deletions free stays with the database file, so the disk may remain full.
        """
        if self._reserve.restore():
            return True
        free_pages: int = self._connection.pragma("freelist_count")
        all_pages: int = self._connection.pragma("page_count")
        return free_pages >= min(self._reserve.bytes // PAGE_SIZE, all_pages // 2)

    def _mark(self, revision: int) -> None:
        """Update the mark to this durable revision.

        Frames are counted at checkpoints only: asking SQLite after each commit would contend for Python's
        interpreter lock, and before a checkpoint the revision is enough.
        """
        mark = self._marks.mark._replace(revision=revision, checkpointed=False, totals=self._totals)
        if self._salt_may_change:
            with contextlib.suppress(OSError):
                salt = read_salt(self._wal_path)
                frames = mark.frames if salt == mark.salt else 0
                mark = mark._replace(salt=salt, frames=frames)
                self._salt_may_change = False
        self._marks.put(mark)
