"""Totals of the rows of the log, to detect missing and resurrected rows.

Each row has a checksum, and SQLite checks its page structure. Neither detects a page that is older than the
others because the disk lost a write: its rows are intact, but some are missing, or deleted since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from apsw import Connection

_SUM = "SELECT count(*), ifnull(sum(checksum), 0) FROM log WHERE revision <= ?"


class RowTotals(NamedTuple):
    """The number of rows and the sum of their checksums, after a compaction up to a revision."""

    compacted: int
    rows: int = 0
    checksums: int = 0

    def with_rows(self, checksums: list[int]) -> RowTotals:
        return self._replace(rows=self.rows + len(checksums), checksums=self.checksums + sum(checksums))

    def without_rows(self, checksums: list[int], compacted: int) -> RowTotals:
        return RowTotals(compacted, self.rows - len(checksums), self.checksums - sum(checksums))

    def as_text(self) -> str:
        return f"{self.compacted} {self.rows} {self.checksums}"


def parse_totals(text: str) -> RowTotals:
    """Parse the result of `as_text`; raises ValueError or TypeError."""
    return RowTotals(*map(int, text.split()))


def sum_rows(connection: Connection, compacted: int, revision: int) -> RowTotals:
    rows, checksums = connection.execute(_SUM, (revision,)).get
    return RowTotals(compacted, rows, checksums)
