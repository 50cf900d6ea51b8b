"""Proxies before an API server and before PostgreSQL, which see every effect of a provider as it happens.

After an effect and before its response reaches the provider, `after_effect` is called: it may kill the
provider, so that the response is lost.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import aiohttp
from aiohttp import web

from crossply.kube.client import Client
from crossply.kube.tls import tls_context

AfterEffect = Callable[[str], None]
"""Gets what the effect was: `PUT /apis/...`, `CREATE ROLE ...`."""

_CHANGING = re.compile(rb"Q....(CREATE|ALTER|DROP|GRANT|REVOKE|BEGIN|COMMIT)\b", re.DOTALL)
_HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive", "host", "content-encoding"}


@asynccontextmanager
async def api_proxy(client: Client, after_effect: AfterEffect) -> AsyncIterator[str]:
    """The URL of a proxy to the API server of a client, with that client's credentials."""
    config = client.config
    context = tls_context(config.authority, config.insecure, config.certificate)
    credential = await config.credentials.current()
    session = aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=None))

    async def forward(request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
        if credential.authorization:
            headers["Authorization"] = credential.authorization
        url = config.server + request.raw_path
        async with session.request(
            request.method,
            url,
            data=await request.read(),
            headers=headers,
            ssl=context,
            allow_redirects=False,
        ) as upstream:
            if request.method != "GET" and "/events" not in request.path and upstream.status < 400:
                body = await upstream.read()
                after_effect(f"{request.method} {request.path}")
                return web.Response(status=upstream.status, body=body, headers=_forwarded_headers(upstream))
            response = web.StreamResponse(status=upstream.status, headers=_forwarded_headers(upstream))
            with suppress(ConnectionResetError, aiohttp.ClientError):
                await response.prepare(request)
                async for chunk in upstream.content.iter_any():
                    await response.write(chunk)
            return response

    app = web.Application(client_max_size=16 << 20)
    app.router.add_route("*", "/{path:.*}", forward)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
        await session.close()


def _forwarded_headers(upstream: aiohttp.ClientResponse) -> dict[str, str]:
    return {name: value for name, value in upstream.headers.items() if name.lower() not in _HOP_BY_HOP}


@asynccontextmanager
async def postgres_proxy(host: str, port: int, after_effect: AfterEffect) -> AsyncIterator[int]:
    """The port of a proxy to a PostgreSQL server without TLS."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            upstream_reader, upstream_writer = await asyncio.open_connection(host, port)
        except OSError:
            writer.close()
            return
        pending: list[str] = []

        async def to_server() -> None:
            while data := await reader.read(1 << 16):
                if _CHANGING.match(data):
                    pending.append(data[5:80].decode(errors="replace"))
                upstream_writer.write(data)
                await upstream_writer.drain()
            upstream_writer.close()

        async def to_client() -> None:
            while data := await upstream_reader.read(1 << 16):
                if pending:
                    after_effect(pending.pop(0))
                writer.write(data)
                await writer.drain()
            writer.close()

        with suppress(ConnectionError, asyncio.CancelledError):
            await asyncio.gather(to_server(), to_client())
        for end in (writer, upstream_writer):
            end.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
