"""The pages /healthz and /readyz, which tell whether to restart us and whether we do our work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def probes(host: str | None, port: int, is_ready: Callable[[], bool]) -> AsyncIterator[int]:
    """Serve both, at every address if no host is given; yields the port, chosen here if it was 0."""

    async def healthz(_: web.Request) -> web.Response:
        # That there is an answer is the answer.
        return web.Response(text="ok")

    async def readyz(_: web.Request) -> web.Response:
        return web.Response(text="ok") if is_ready() else web.Response(status=503, text="starting")

    application = web.Application()
    application.router.add_get("/healthz", healthz)
    application.router.add_get("/readyz", readyz)
    runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
