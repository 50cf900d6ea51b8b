"""Figures of functions and workqueues: of the control plane that started the dashboard, or of its pods."""

from __future__ import annotations

import time
from typing import NamedTuple

import aiohttp

from crossply.compose.object_metadata import name_of
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.record.prometheus_text_parser import (
    CACHE_HITS,
    FUNCTION,
    FUNCTION_CALLS,
    FUNCTION_SECONDS,
    Samples,
    added,
    failed_calls,
    parse,
    quantile,
    sum_by,
)

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
        self._figures: _Figures | None = None

    async def figures(self, client: Client) -> _Figures | None:
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


class _FunctionFigures(NamedTuple):
    name: str
    calls: int
    errors: int
    p50: float
    """Seconds; 0 where nothing was called."""
    p99: float
    hits: int
    """Calls that the response cache answered."""


class _Figures(NamedTuple):
    functions: list[_FunctionFigures]
    queue: int
    """How many objects wait to be worked on."""


def read_figures(samples: Samples) -> _Figures:
    """The figures of all replicas."""
    calls, hits = (sum_by(samples, name, FUNCTION) for name in (FUNCTION_CALLS, CACHE_HITS))
    functions = [
        _figures_of(name, calls.get(name, 0.0), hits.get(name, 0.0), samples)
        for name in sorted(calls.keys() | hits.keys())
        if name
    ]
    return _Figures(functions, int(sum(sum_by(samples, "workqueue_depth").values())))


def _figures_of(name: str, calls: float, hits: float, samples: Samples) -> _FunctionFigures:
    counts = sum_by(samples, FUNCTION_SECONDS, "le", {FUNCTION: name})
    buckets = {float(bound): count for bound, count in counts.items()}
    return _FunctionFigures(
        name,
        int(calls),
        failed_calls(samples, name),
        quantile(buckets, 0.5) or 0.0,
        quantile(buckets, 0.99) or 0.0,
        int(hits),
    )
