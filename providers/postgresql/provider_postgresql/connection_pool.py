"""Connections to one PostgreSQL server, shared by every database on it.

A PostgreSQL connection belongs to a database, so a pool for each of a thousand databases would exhaust the
server. Here the limit holds for all of them together: to open a connection to another database, the one that
was idle longest is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import psycopg

Connection = psycopg.AsyncConnection[tuple[object, ...]]

LIMIT = 10
CONNECT_TIMEOUT_SECONDS = 10
IDLE_SECONDS = 300.0
IDLE_SECONDS_OF_OTHER_DATABASES = 2.0
"""Short, because nobody can drop or copy a database while we are connected to it."""


class Login(NamedTuple):
    """Where a server is and who logs in to it."""

    host: str
    port: int
    username: str
    password: str
    database: str = "postgres"
    """The database of statements that do not name one."""
    sslmode: str = "verify-full"

    def __repr__(self) -> str:
        return f"<Login of {self.username!r} to {self.address}>"

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


class _Idle(NamedTuple):
    database: str
    connection: Connection
    expires: float


class ConnectionPool:
    """Opens connections on demand, at most `limit` at a time."""

    def __init__(self, login: Login, limit: int = LIMIT) -> None:
        self._login = login
        self._limit = limit
        self._free = asyncio.Semaphore(limit)
        self._idle: list[_Idle] = []  # the one that was used last is the last
        self._busy = 0
        self._expiry: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        """How many connections are open."""
        return self._busy + len(self._idle)

    @asynccontextmanager
    async def connection(self, database: str) -> AsyncIterator[Connection]:
        """A connection in autocommit mode; it is kept for the next caller unless it broke."""
        async with self._free:
            self._busy += 1
            try:
                connection = self._take(database) or await self._open(database)
                try:
                    yield connection
                except BaseException:
                    # Cancelled or failed halfway: unless the server answered, the protocol is out of step.
                    if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                        await connection.close()
                    raise
                finally:
                    self._keep(database, connection)
            finally:
                self._busy -= 1

    async def close_idle(self, database: str | None = None) -> None:
        """Close idle connections to a database, or to all."""
        await self._close([idle for idle in self._idle if database in (None, idle.database)])

    async def close(self) -> None:
        """Close every connection that nobody uses, and stop looking after them."""
        if self._expiry is not None:
            self._expiry.cancel()
        await self.close_idle()

    def _take(self, database: str) -> Connection | None:
        for idle in reversed(self._idle):
            if idle.database == database:
                self._idle.remove(idle)
                return idle.connection
        return None

    async def _open(self, database: str) -> Connection:
        while self._idle and self.size > self._limit:
            await self._close(self._idle[:1])
        login = self._login
        return await psycopg.AsyncConnection.connect(
            host=login.host,
            port=login.port,
            user=login.username,
            password=login.password,
            dbname=database,
            sslmode=login.sslmode,
            connect_timeout=CONNECT_TIMEOUT_SECONDS,
            application_name="crossply-provider-postgresql",
            autocommit=True,
            prepare_threshold=None,  # poolers between us and the server may not keep prepared statements
        )

    def _keep(self, database: str, connection: Connection) -> None:
        if connection.closed:
            return
        seconds = IDLE_SECONDS if database == self._login.database else IDLE_SECONDS_OF_OTHER_DATABASES
        now = asyncio.get_running_loop().time()
        self._idle.append(_Idle(database, connection, now + seconds))
        if self._expiry is None or self._expiry.done():
            self._expiry = asyncio.create_task(self._close_expired())

    async def _close_expired(self) -> None:
        while self._idle:
            await asyncio.sleep(IDLE_SECONDS_OF_OTHER_DATABASES / 2)
            now = asyncio.get_running_loop().time()
            await self._close([idle for idle in self._idle if idle.expires <= now])

    async def _close(self, closing: list[_Idle]) -> None:
        self._idle = [idle for idle in self._idle if idle not in closing]
        for idle in closing:
            await idle.connection.close()
