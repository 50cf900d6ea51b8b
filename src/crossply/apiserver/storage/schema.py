"""The tables of the database, and how an older database becomes a current one.

`log` is append-only and holds every value once. The current objects are the rows that no later row names as
`previous`; the rows after the compacted revision are the history. No table of current objects is needed on
disk: a start reads all rows anyway, and every write is one row less. A row carries a checksum over all of its
fields, since SQLite itself notices damage to its own structure only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from zlib import crc32

from crossply.apiserver.storage.errors import NewerDatabase, StorageDamaged

if TYPE_CHECKING:
    from apsw import Connection
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


APPLICATION_ID = 0x63705079
"""Marks a file as ours, in the header of the database."""


def _create_tables(connection: Connection) -> None:
    connection.execute(
        """
        CREATE TABLE log(
            revision INTEGER PRIMARY KEY,
            resource TEXT NOT NULL,
            namespace TEXT NOT NULL,
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            previous INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            value BLOB NOT NULL
        ) STRICT;
        CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
        """
    )


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_create_tables,)
"""Each step leads to the next version of the schema; a step that was released is never changed."""

CURRENT_VERSION = len(MIGRATIONS)


def version_of(connection: Connection) -> int:
    """The version of a database; raises when it is not one of ours, or too new for us."""
    if connection.pragma("application_id") != APPLICATION_ID:
        raise StorageDamaged("the file is not a database of Crossply")
    version = int(connection.pragma("user_version"))
    if version > CURRENT_VERSION:
        raise NewerDatabase(
            f"the database has schema version {version}, this program knows versions up to {CURRENT_VERSION}"
        )
    return version


def migrate(connection: Connection, version: int) -> None:
    """Bring a database from a version to the current one, step by step and each step whole."""
    for step, migration in enumerate(MIGRATIONS[version:], start=version + 1):
        with transaction(connection):
            migration(connection)
            connection.pragma("user_version", step)


def read_meta(connection: Connection) -> dict[str, str]:
    """What the database says about itself."""
    meta = {}
    for name, value, checksum in connection.execute("SELECT name, value, checksum FROM meta"):
        if checksum != _meta_checksum(name, value):
            raise StorageDamaged(f"the database is damaged: the checksum of its {name} is wrong")
        meta[name] = value
    return meta


def write_meta(connection: Connection, name: str, value: str) -> None:
    """Note something about the database; belongs into a transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO meta VALUES(?, ?, ?)", (name, value, _meta_checksum(name, value))
    )


def delete_meta(connection: Connection, name: str) -> None:
    """Remove a note; belongs into a transaction."""
    connection.execute("DELETE FROM meta WHERE name = ?", (name,))


def _meta_checksum(name: str, value: str) -> int:
    return crc32(f"{name}={value}".encode())


def row_checksum(
    revision: int, resource: str, namespace: str, name: str, kind: str, previous: int, value: bytes
) -> int:
    """The checksum over all fields of a row of the log."""
    head = f"{revision}\n{resource}\n{namespace}\n{name}\n{kind}\n{previous}\n"
    return crc32(value, crc32(head.encode()))
