"""A proxy before an API server: where it listens, how it is reached, and how a request is passed on."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Self

import aiohttp
import orjson
from aiohttp import web

from crossply.kube.config import ClusterConfig
from crossply.kube.tls import tls_context

HOP_HEADERS = {"transfer-encoding", "connection", "content-length", "host", "authorization"}
"""Headers that are about one connection, or that the proxy sets."""


class ApiProxy:
    """Forwards requests with the credentials of a configuration; subclasses intercept them."""

    hidden_headers: frozenset[str] = frozenset(HOP_HEADERS)
    """Headers of a request that the API server is not sent."""
    decompresses = False
    """Whether a compressed answer is decompressed before it is seen."""

    def __init__(self, config: ClusterConfig) -> None:
        self.url = ""
        self.config = config
        self.tls = tls_context(config.authority, config.insecure, config.certificate)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[Self]:
        """Listen at an address of its own."""
        # A server may close what was idle just when it is used again.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=2)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(
            connector=connector, timeout=timeout, auto_decompress=self.decompresses
        ) as self.session:
            runner = web.ServerRunner(web.Server(self.pass_on), shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            try:
                yield self
            finally:
                await runner.cleanup()

    def kubeconfig(self) -> bytes:
        """How a client reaches the API server through this."""
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

    async def pass_on(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request."""
        raise NotImplementedError

    async def send(
        self, request: web.BaseRequest, body: bytes, path: str
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Send a request to a path of the API server."""
        headers = {
            key: value for key, value in request.headers.items() if key.lower() not in self.hidden_headers
        }
        credential = await self.config.credentials.current()
        return self.session.request(
            request.method,
            self.config.server + path,
            data=body or None,
            headers={**headers, "Authorization": credential.authorization},
            ssl=self.tls,
        )

    async def stream(
        self, request: web.BaseRequest, answer: aiohttp.ClientResponse, headers: dict[str, str]
    ) -> web.StreamResponse:
        """Pass an answer on as it comes."""
        response = web.StreamResponse(status=answer.status, headers=headers)
        # A client may be gone when its answer comes.
        with contextlib.suppress(ConnectionError):
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await self.passing(request)
                await response.write(chunk)
            await response.write_eof()
        return response

    async def passing(self, request: web.BaseRequest) -> None:
        """A part of an answer is about to be passed on."""
