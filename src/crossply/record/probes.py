"""The pages /healthz and /readyz, which tell whether to restart us and whether we do our work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from aiohttp import web

from crossply.record.serving import served


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
