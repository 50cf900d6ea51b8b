"""A PostgreSQL server as the kinds of this provider use it: reads, statements and transactions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg import sql

from crossply.provider import ExternalError

from .batched_lookup import BatchedLookup
from .connection_pool import Connection, ConnectionPool, Login
from .sql_errors import explained, unreachable

Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]


class DatabaseMissing(ExternalError):
    """The database that a statement belongs in does not exist."""

    hint = "create it first, or correct its name; it is tried again"


class Server:
    """One login on one server. Errors are ExternalErrors, which say what to do."""

    def __init__(self, login: Login) -> None:
        self.login = login
        self._pool = ConnectionPool(login)
        self._lookups: dict[str, BatchedLookup] = {}
        self.version = 0
        """As `server_version_num`: 150004 is 15.4. Known once a connection was opened."""
        self._is_superuser = False

    @property
    def is_idle(self) -> bool:
        return not self._pool.size

    async def rows(self, query: str, values: Values = (), database: str = "") -> list[Row]:
        """The rows of a query that changes nothing; asked again where the server closed the connection."""
        try:
            return await self._rows(query, values, database)
        except psycopg.Error as problem:
            if not _is_disconnect(problem):
                raise explained(problem, self.login) from None
        # The server restarted: the other idle connections are as dead as this one.
        await self._pool.close_idle()
        try:
            return await self._rows(query, values, database)
        except psycopg.Error as problem:
            raise explained(problem, self.login) from None

    async def lookup(self, query: str, key: str) -> Row | None:
        """The row of a key in a catalog; `query` takes an array of keys, and its first column is the key.

        Lookups that wait for the same query are answered by one.
        """
        lookup = self._lookups.get(query)
        if lookup is None:
            lookup = self._lookups[query] = BatchedLookup(lambda keys: self.rows(query, [keys]))
        return await lookup.get(key)

    async def is_superuser(self) -> bool:
        """Whether the login may read verifiers of passwords; the server tells when a connection is opened."""
        if not self.version:
            async with self._connection(""):
                pass
        return self._is_superuser

    async def execute(self, *statements: sql.SQL | sql.Composed, database: str = "") -> None:
        """Execute a statement, or several in one transaction."""
        try:
            async with self._connection(database) as connection:
                if len(statements) == 1:
                    await connection.execute(statements[0])
                    return
                async with connection.transaction():
                    for statement in statements:
                        await connection.execute(statement)
        except psycopg.Error as problem:
            raise explained(problem, self.login) from None

    async def password_verifier(self, role: str, password: str) -> str:
        """What the server keeps of a password: sent instead of it, so that no log of statements has it."""
        async with self._connection("") as connection:
            encrypted = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        return encrypted.decode()

    async def leave_database(self, database: str) -> None:
        """Close idle connections to a database, which keep it from being dropped."""
        await self._pool.close_idle(database)

    async def close(self) -> None:
        await self._pool.close()

    async def _rows(self, query: str, values: Values, database: str) -> list[Row]:
        async with self._connection(database) as connection:
            cursor = await connection.execute(query, values)
            return await cursor.fetchall()

    @asynccontextmanager
    async def _connection(self, database: str) -> AsyncIterator[Connection]:
        for is_last in (not database, True):  # a database may be created while we ask whether it exists
            opened = False
            try:
                async with self._pool.connection(database or self.login.database) as connection:
                    opened = True
                    self.version = connection.info.server_version
                    self._is_superuser = connection.info.parameter_status("is_superuser") == "on"
                    yield connection
                    return
            except psycopg.Error as problem:
                if opened:
                    raise
                if database and not await self._exists(database):
                    raise DatabaseMissing(f"database {database!r} does not exist") from None
                if is_last:
                    raise unreachable(problem, self.login) from None

    async def _exists(self, database: str) -> bool:
        return bool(await self.rows("SELECT 1 FROM pg_database WHERE datname = %s", [database]))


def _is_disconnect(problem: psycopg.Error) -> bool:
    """Tell whether the connection ended: by a shutdown (class 57P), or without a word of the server."""
    if problem.sqlstate:
        return problem.sqlstate.startswith("57P")
    return isinstance(problem, psycopg.OperationalError)


_servers: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Login, Server]] = WeakKeyDictionary()


def server_of(login: Login) -> Server:
    """The server of a login: all kinds share its connections."""
    servers = _servers.setdefault(asyncio.get_running_loop(), {})
    if login not in servers:
        for former in [former for former, server in servers.items() if server.is_idle]:
            del servers[former]  # such as one with a password that changed since
        servers[login] = Server(login)
    return servers[login]


async def close_servers() -> None:
    """Close the connections of this event loop."""
    for server in _servers.pop(asyncio.get_running_loop(), {}).values():
        await server.close()
