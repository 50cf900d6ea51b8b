"""A port that serves a few pages to whoever watches over us."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from aiohttp import web

Page = Callable[[], web.Response]


@asynccontextmanager
async def served(host: str | None, port: int, pages: Mapping[str, Page]) -> AsyncIterator[int]:
    """Serve pages by path, at every address if no host is given; yields the port, chosen here if it was 0."""
    application = web.Application()
    for path, page in pages.items():
        application.router.add_get(path, _handler(page))
    runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def _handler(page: Page) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(_: web.Request) -> web.Response:
        return page()

    return handle
