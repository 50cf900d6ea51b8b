"""Detects lost writes: compares the high-water mark with the log and the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.apiserver.storage.errors import WritesLost
from crossply.apiserver.storage.high_water_mark import HighWaterMark
from crossply.apiserver.storage.log_loading import State
from crossply.apiserver.storage.log_rows import sum_rows
from crossply.apiserver.storage.wal_file import NO_SALT, WalContent, is_restarted

if TYPE_CHECKING:
    from apsw import Connection


def check_wal(mark: HighWaterMark | None, wal: WalContent | None, path: str) -> None:
    """Refuse a write-ahead log that lacks acknowledged frames, before SQLite reads it.

    Frames beyond the mark may be missing or torn: their writers never got a response.
    """
    if mark is None or mark.salt == NO_SALT:
        return
    if wal is None:
        if not mark.checkpointed:
            raise WritesLost(
                f"{path} is missing or its header is damaged. It held acknowledged writes, the newest with "
                f"resource version {mark.revision}"
            )
    elif wal.salt == mark.salt:
        if wal.frames < mark.frames:
            raise WritesLost(
                f"{path} is truncated or damaged: {wal.frames} of its {mark.frames} frames can be read. The "
                f"newest acknowledged write had resource version {mark.revision}"
            )
    elif not is_restarted(wal.salt, since=mark.salt):
        raise WritesLost(
            f"{path} is not the write-ahead log that was written last. The newest acknowledged write had "
            f"resource version {mark.revision}"
        )


def check_revision(mark: HighWaterMark | None, state: State) -> None:
    """Refuse a database that ends before the newest acknowledged write, or that is another one."""
    if mark is None:
        return
    if mark.lineage != state.lineage:
        raise WritesLost(
            "the database, its write-ahead log and its mark do not belong together: the files of two data "
            "directories were mixed"
        )
    if state.revision < mark.revision:
        raise WritesLost(
            f"the database ends at resource version {state.revision}, but version {mark.revision} was "
            "acknowledged"
        )


def check_totals(mark: HighWaterMark | None, state: State, connection: Connection) -> None:
    """Refuse a database that lacks acknowledged rows, or has rows that were removed.

    It may be ahead of the mark by what was pending when the process ended. Whether a compaction after the
    mark removed the right rows cannot be known; the next mark covers what it left.
    """
    if mark is None or mark.totals is None or mark.lineage != state.lineage:
        return
    if state.totals.compacted < mark.totals.compacted:
        raise WritesLost(
            f"the database has history since resource version {state.totals.compacted}, but history up to "
            f"{mark.totals.compacted} was compacted: the pages or the log that say so are lost"
        )
    if state.totals.compacted > mark.totals.compacted:
        return
    is_ahead = state.revision > mark.revision
    totals = sum_rows(connection, state.totals.compacted, mark.revision) if is_ahead else state.totals
    if totals != mark.totals:
        raise WritesLost(
            f"the database has {totals.rows} rows that are not the {mark.totals.rows} acknowledged up to "
            f"resource version {mark.revision}: a part of it is older than the rest"
        )


def check_mark_exists(mark: HighWaterMark | None, is_marked: bool, path: str) -> None:
    """Refuse a database without its mark: it may be a copy that was taken without its log."""
    if mark is None and is_marked:
        raise WritesLost(f"{path} is missing: it is not known which writes were acknowledged")
