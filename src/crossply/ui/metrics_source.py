"""Where figures come from: the control plane that started the dashboard, or its pods by the API server."""

from __future__ import annotations

import time

import aiohttp

from crossply.compose.object_metadata import name_of
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.record.metrics_page import added, parse
from crossply.ui.function_metrics import Figures, read_figures

NAMESPACE = "crossplane-system"
SELECTOR = "app.kubernetes.io/name=crossply"
PORT = 8080
FRESH_SECONDS = 3.0
_MOST_PODS = 5
_POD = Kind("", "v1", "Pod", "pods", True)


class MetricsSource:
    """Asks at most once in FRESH_SECONDS."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._requested_at = float("-inf")
        self._figures: Figures | None = None

    async def figures(self, client: Client) -> Figures | None:
        """The figures of the control plane; None where the viewer cannot reach them."""
        if time.monotonic() - self._requested_at > FRESH_SECONDS:
            self._requested_at = time.monotonic()
            pages = await self._from_socket() if self._socket else await _from_pods(client)
            self._figures = read_figures(added(map(parse, pages))) if pages else None
        return self._figures

    async def _from_socket(self) -> list[str]:
        timeout = aiohttp.ClientTimeout(total=2)
        try:
            async with (
                aiohttp.ClientSession(
                    connector=aiohttp.UnixConnector(self._socket), timeout=timeout
                ) as session,
                session.get("http://control-plane/metrics") as answer,
            ):
                return [await answer.text()]
        except (aiohttp.ClientError, OSError, TimeoutError):
            return []


async def _from_pods(client: Client) -> list[str]:
    """The metrics pages of all replicas, one after the other, with the viewer's rights."""
    import orjson

    try:
        pods = await client.list(_POD, NAMESPACE, SELECTOR)
        pages = []
        for data in pods.items[:_MOST_PODS]:
            path = f"{_POD.path(NAMESPACE, name_of(orjson.loads(data)))}:{PORT}/proxy/metrics"
            reply = await client.request("GET", path, accept="text/plain")
            pages.append(reply.data.decode("utf-8", "replace"))
    except CrossplyError:
        return []
    return pages
