"""A witness between one replica and the API server: it lets everything pass, and knows who wrote what."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator

import aiohttp
import orjson
from aiohttp import web

from crossply.kube.config import ClusterConfig
from crossply.kube.tls import tls_context

_HOP = {"transfer-encoding", "connection", "content-length", "host", "authorization"}


class Witness:
    """Knows the writes of one replica, in the order in which they arrived."""

    def __init__(self, config: ClusterConfig) -> None:
        self.url = ""
        self.writes: list[tuple[str, str]] = []
        """The method and the path of each."""
        self._config = config
        self._tls: ssl.SSLContext = tls_context(config.authority, config.insecure, config.certificate)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[Witness]:
        """Listen for the replica, at an address of its own."""
        # A server may close what was idle just when it is used again.
        limits = aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(
            connector=limits, timeout=timeout, auto_decompress=False
        ) as self._session:
            runner = web.ServerRunner(web.Server(self._pass_on), shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            try:
                yield self
            finally:
                await runner.cleanup()

    def kubeconfig(self) -> bytes:
        """How the replica reaches the API server past us."""
        return orjson.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "clusters": [{"name": "c", "cluster": {"server": self.url}}],
                "users": [{"name": "c", "user": {}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
            }
        )

    def written(self, plural: str, since: int = 0) -> set[str]:
        """The names of the objects that the replica wrote."""
        parts = (path.partition(f"/{plural}/")[2] for _, path in self.writes[since:])
        return {part.partition("/")[0] for part in parts if part}

    async def arriving(self, request: web.BaseRequest) -> None:
        """Something is asked for, and the API server does not know of it yet."""

    async def passing(self, request: web.BaseRequest) -> None:
        """A part of an answer is about to be passed on."""

    async def answered(self, method: str, path: str) -> None:
        """A write was made, and only the API server knows of it."""

    async def _pass_on(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        await self.arriving(request)
        writes = request.method != "GET" and "/leases" not in request.path
        if writes:
            self.writes.append((request.method, request.path))
        headers = {key: value for key, value in request.headers.items() if key.lower() not in _HOP}
        credential = await self._config.credentials.current()
        async with self._session.request(
            request.method,
            self._config.server + request.path_qs,
            data=body or None,
            headers={**headers, "Authorization": credential.authorization},
            ssl=self._tls,
        ) as answer:
            if writes:
                await self.answered(request.method, request.path)
            passed = {key: value for key, value in answer.headers.items() if key.lower() not in _HOP}
            response = web.StreamResponse(status=answer.status, headers=passed)
            # A replica may be gone when its answer comes.
            with contextlib.suppress(ConnectionError):
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await self.passing(request)
                    await response.write(chunk)
                await response.write_eof()
            return response
