"""One transaction of SQLite."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apsw import Connection


@contextlib.contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Commit what is done inside, or roll it back and raise the error that ended it.

    When the disk is full or memory runs out, SQLite has rolled back already. The connection as a context
    manager tries that again and raises the error of that attempt, which hides the one that matters.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
