"""Migrations of SQLite databases: SQL texts that are executed once each, in order, and recorded.

The SQL comes from whoever may create a resource, so it is confined to its own database: no other file is
attached, no extension loaded, and time and size are limited.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

import apsw

TABLE = "crossply_migrations"
_SECONDS = 20.0
_PAGES = 1 << 18  # of 4 KiB: 1 GiB
_BUSY_MILLISECONDS = 5000
_PRAGMAS = frozenset(
    ("application_id", "user_version", "foreign_keys", "foreign_key_check", "defer_foreign_keys")
)
_REFUSED = frozenset((apsw.SQLITE_ATTACH, apsw.SQLITE_DETACH, apsw.SQLITE_TRANSACTION, apsw.SQLITE_SAVEPOINT))


class MigrationRefused(Exception):
    """A migration that cannot be executed."""


def applied_migrations(path: str) -> list[str]:
    """The migrations that a database has. Raises apsw.Error where the file is no database."""
    with _opened(path, apsw.SQLITE_OPEN_READONLY) as connection:
        if connection.table_exists("main", TABLE) is False:
            return []
        return [text for (text,) in connection.execute(f"SELECT sql FROM {TABLE} ORDER BY number")]


def migrate(path: str, migrations: Sequence[str]) -> None:
    """Create the database if it is missing, and execute the migrations that it does not have."""
    with _opened(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE) as connection:
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {TABLE} (number INTEGER PRIMARY KEY, sql TEXT NOT NULL)"
        )
        _check_none_missing(connection, len(migrations))
        for number, text in enumerate(migrations, start=1):
            with connection:  # one transaction: all of a migration and its record, or nothing
                _migrate(connection, number, text)


def _check_none_missing(connection: apsw.Connection, listed: int) -> None:
    row = connection.execute(f"SELECT min(number) FROM {TABLE} WHERE number > ?", (listed,)).fetchone()
    if row is not None and row[0] is not None:
        raise MigrationRefused(f"migration {row[0]} was executed and is no longer listed: restore it")


def _migrate(connection: apsw.Connection, number: int, text: str) -> None:
    row = connection.execute(f"SELECT sql FROM {TABLE} WHERE number = ?", (number,)).fetchone()
    if row is not None:
        if row[0] != text:
            raise MigrationRefused(
                f"migration {number} was changed after it was executed: restore it and add another one"
            )
        return
    connection.authorizer = _authorize
    deadline = time.monotonic() + _SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    try:
        connection.execute(text)
    except apsw.InterruptError as problem:
        raise MigrationRefused(f"migration {number} takes longer than {_SECONDS:.0f} seconds") from problem
    except apsw.Error as problem:
        raise MigrationRefused(f"migration {number} failed: {problem}") from problem
    finally:
        connection.authorizer = None
        connection.set_progress_handler(None)
    connection.execute(f"INSERT INTO {TABLE} VALUES (?, ?)", (number, text))


def _authorize(operation: int, first: str | None, second: str | None, *_: str | None) -> int:
    if operation in _REFUSED or TABLE in (first, second):
        return apsw.SQLITE_DENY
    if operation == apsw.SQLITE_PRAGMA and first not in _PRAGMAS:
        return apsw.SQLITE_DENY
    if operation == apsw.SQLITE_FUNCTION and second == "load_extension":
        return apsw.SQLITE_DENY
    return apsw.SQLITE_OK


@contextlib.contextmanager
def _opened(path: str, flags: int) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(path, flags=flags | apsw.SQLITE_OPEN_NOFOLLOW)
    try:
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        connection.pragma("max_page_count", _PAGES)
        yield connection
    finally:
        connection.close()
