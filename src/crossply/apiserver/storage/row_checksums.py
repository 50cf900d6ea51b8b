"""What the rows of the log add up to: a check that none of them is missing, and none is back.

Each row has a checksum, and SQLite checks how its pages fit together. Neither notices a page that is older
than the others because the disk lost a write: its rows are whole, but some are missing, or deleted since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from apsw import Connection

_SUM = "SELECT count(*), ifnull(sum(checksum), 0) FROM log WHERE revision <= ?"


class RowTotals(NamedTuple):
    """The number of rows and the sum of their checksums, once history up to a revision was compacted."""

    compacted: int
    rows: int = 0
    checksums: int = 0

    def with_rows(self, checksums: list[int]) -> RowTotals:
        """The totals when rows with these checksums have been added."""
        return self._replace(rows=self.rows + len(checksums), checksums=self.checksums + sum(checksums))

    def without_rows(self, checksums: list[int], compacted: int) -> RowTotals:
        """The totals when rows with these checksums have been removed by a compaction."""
        return RowTotals(compacted, self.rows - len(checksums), self.checksums - sum(checksums))

    def as_text(self) -> str:
        """The totals as `parse_totals` reads them."""
        return f"{self.compacted} {self.rows} {self.checksums}"


def parse_totals(text: str) -> RowTotals:
    """What `as_text` wrote; raises ValueError or TypeError."""
    return RowTotals(*map(int, text.split()))


def sum_rows(connection: Connection, compacted: int, revision: int) -> RowTotals:
    """The totals of the rows up to a revision."""
    rows, checksums = connection.execute(_SUM, (revision,)).get
    return RowTotals(compacted, rows, checksums)
