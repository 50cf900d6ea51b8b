"""Requests over HTTPS with the kubeconfig of the data directory, none of which is repeated silently."""

from __future__ import annotations

import base64
import pathlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import aiohttp
import orjson

from crossply.values.yaml import load

REQUEST_SECONDS = 8.0
_QUIET_WATCH_SECONDS = 20.0


class Answer(NamedTuple):
    """A status and a decoded body."""

    status: int
    body: dict[str, Any]


class NotSent(Exception):
    """There was no connection, so the request had no effect."""


class NoAnswer(Exception):
    """The connection broke after the request may have been sent."""


class Connection:
    """The connections of one client, which rereads the kubeconfig when its address does not answer."""

    def __init__(self, data: pathlib.Path) -> None:
        self._data = data
        self._session: aiohttp.ClientSession | None = None
        self._server = ""

    async def close(self) -> None:
        """Close what is open; the next request reads the kubeconfig again."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def call(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> Answer:
        """One request; raises NotSent or NoAnswer."""
        session = self._open()
        try:
            async with session.request(
                method,
                self._server + path,
                data=None if body is None else orjson.dumps(body),
                headers={"Content-Type": content_type},
                timeout=aiohttp.ClientTimeout(total=REQUEST_SECONDS),
            ) as response:
                return Answer(response.status, orjson.loads(await response.read()))
        except aiohttp.ClientConnectorError as problem:
            await self.close()
            raise NotSent from problem
        except (TimeoutError, aiohttp.ClientError, OSError, orjson.JSONDecodeError) as problem:
            raise NoAnswer from problem

    @asynccontextmanager
    async def watch(self, path: str) -> AsyncIterator[aiohttp.StreamReader]:
        """The lines of a watch; raises NoAnswer also while they are read."""
        session = self._open()
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=_QUIET_WATCH_SECONDS)
        try:
            async with session.get(self._server + path, timeout=timeout) as response:
                if response.status not in (200, 410):
                    raise NoAnswer(response.status)
                yield response.content
        except (TimeoutError, aiohttp.ClientError, OSError) as problem:
            raise NoAnswer from problem

    def _open(self) -> aiohttp.ClientSession:
        if self._session is not None:
            return self._session
        try:
            config = load((self._data / "kubeconfig").read_bytes())
            cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
            authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
            trust = ssl.create_default_context(cadata=authority)
        except (OSError, KeyError, TypeError, IndexError, ValueError) as problem:
            raise NotSent from problem
        self._server = cluster["server"]
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trust, limit=0),
            headers={"Authorization": f"Bearer {user['token']}"},
        )
        # aiohttp would repeat a PUT or DELETE after a broken connection, and hide its first effect.
        session._retry_connection = False
        self._session = session
        return session
