"""The page /metrics, and the port that it is served on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from crossply.record.metrics import ALL
from crossply.record.process import process_families
from crossply.record.text import CONTENT_TYPE, family_text


def metrics_text() -> str:
    """Everything that is counted, as Prometheus reads it."""
    texts = [family.text() for family in ALL]
    texts += [family_text(family) for family in process_families()]
    return "".join(texts)


@asynccontextmanager
async def metrics_served(host: str | None, port: int) -> AsyncIterator[int]:
    """Serve the page, at every address if no host is given; yields the port, chosen here if it was 0."""
    application = web.Application()
    application.router.add_get("/metrics", _show)
    runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def _show(request: web.Request) -> web.Response:
    return web.Response(body=metrics_text().encode(), headers={"Content-Type": CONTENT_TYPE})
