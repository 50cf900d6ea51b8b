"""The page /metrics, and the port that it is served on."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from aiohttp import web

from crossply.record.metrics import ALL
from crossply.record.process_metrics import process_families
from crossply.record.serving import served
from crossply.record.text import CONTENT_TYPE, family_text


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
