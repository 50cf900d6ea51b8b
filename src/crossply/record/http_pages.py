"""The pages of a control plane's process: /metrics, /healthz and /readyz."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from aiohttp import web

from crossply.record.control_plane_metrics import ALL
from crossply.record.process_metrics import process_families
from crossply.record.prometheus import CONTENT_TYPE, family_text

Page = Callable[[], web.Response]


@asynccontextmanager
async def served(host: str | None, port: int, pages: Mapping[str, Page]) -> AsyncIterator[int]:
    """Serve pages by path, at every address if no host is given; yields the port, chosen here if it was 0."""
    runner = await _runner(pages)
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def _runner(pages: Mapping[str, Page]) -> web.AppRunner:
    application = web.Application()
    for path, page in pages.items():
        application.router.add_get(path, _handler(page))
    runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    return runner


@asynccontextmanager
async def metrics_on_socket(path: str) -> AsyncIterator[None]:
    """Serve /metrics on a Unix socket, for those who may open it."""
    runner = await _runner({"/metrics": _page})
    try:
        await web.UnixSite(runner, path).start()
        yield
    finally:
        await runner.cleanup()


def _handler(page: Page) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(_: web.Request) -> web.Response:
        return page()

    return handle


def metrics_text() -> str:
    """Everything that is counted, as Prometheus reads it."""
    texts = [family.text() for family in ALL]
    texts += [family_text(family) for family in process_families()]
    return "".join(texts)


def metrics_served(host: str | None, port: int) -> AbstractAsyncContextManager[int]:
    """Serve the page, at every address if no host is given; gives the port, chosen here if it was 0."""
    return served(host, port, {"/metrics": _page})


def _page() -> web.Response:
    return web.Response(body=metrics_text().encode(), headers={"Content-Type": CONTENT_TYPE})


def starting() -> str:
    """Return what /readyz says of a start that nothing holds up."""
    return "starting"


def probes(
    host: str | None, port: int, is_ready: Callable[[], bool], reason: Callable[[], str] = starting
) -> AbstractAsyncContextManager[int]:
    """Serve both, at every address if no host is given; gives the port, chosen here if it was 0.

    `reason` says why it is not ready.
    """

    def healthz() -> web.Response:
        # That there is an answer is the answer.
        return web.Response(text="ok")

    def readyz() -> web.Response:
        return web.Response(text="ok") if is_ready() else web.Response(status=503, text=reason())

    return served(host, port, {"/healthz": healthz, "/readyz": readyz})
