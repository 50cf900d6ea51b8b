"""The tables of the database, and the migration of older databases.

`log` is append-only and has every value once. The current objects are the rows that no later row names as
`previous`; the rows after the compacted revision are the history. A table of current objects is not needed: a
start reads all rows anyway, and every write is one row less. A row has a checksum over all of its fields,
since SQLite detects only damage to its own structure.
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
    """Commit the block, or roll back and raise the error that ended it.

    When the disk is full or memory runs out, SQLite has rolled back already. The connection as a context
    manager would try that again and raise the error of that attempt, which hides the original one.
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
"""The application id in the header of the database."""


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
"""Each step migrates to the next version of the schema; a released step never changes."""

CURRENT_VERSION = len(MIGRATIONS)


def version_of(connection: Connection) -> int:
    """The schema version of a database; raises if it is not ours, or too new."""
    if connection.pragma("application_id") != APPLICATION_ID:
        raise StorageDamaged("the file is not a database of Crossply")
    version = int(connection.pragma("user_version"))
    if version > CURRENT_VERSION:
        raise NewerDatabase(
            f"the database has schema version {version}, this program knows versions up to {CURRENT_VERSION}"
        )
    return version


def migrate(connection: Connection, version: int) -> None:
    """Migrate a database from a version to the current one, each step in a transaction."""
    for step, migration in enumerate(MIGRATIONS[version:], start=version + 1):
        with transaction(connection):
            migration(connection)
            connection.pragma("user_version", step)


def read_meta(connection: Connection) -> dict[str, str]:
    meta = {}
    for name, value, checksum in connection.execute("SELECT name, value, checksum FROM meta"):
        if checksum != _meta_checksum(name, value):
            raise StorageDamaged(f"the database is damaged: the checksum of its {name} is wrong")
        meta[name] = value
    return meta


def write_meta(connection: Connection, name: str, value: str) -> None:
    """Set a meta value, within a transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO meta VALUES(?, ?, ?)", (name, value, _meta_checksum(name, value))
    )


def delete_meta(connection: Connection, name: str) -> None:
    """Delete a meta value, within a transaction."""
    connection.execute("DELETE FROM meta WHERE name = ?", (name,))


def _meta_checksum(name: str, value: str) -> int:
    return crc32(f"{name}={value}".encode())


def row_checksum(
    revision: int, resource: str, namespace: str, name: str, kind: str, previous: int, value: bytes
) -> int:
    head = f"{revision}\n{resource}\n{namespace}\n{name}\n{kind}\n{previous}\n"
    return crc32(value, crc32(head.encode()))
