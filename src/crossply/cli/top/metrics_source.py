"""Where the metrics of a control plane are read: a socket in its data directory, or its pods.

Pods are asked through the API server's proxy, with the user's own rights.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from urllib.parse import quote

import orjson

from crossply.cli.local_control_plane.data_directory import METRICS_SOCKET
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.record.prometheus_text_parser import Samples, parse

_POD = Kind("", "v1", "Pod", "pods", True)
_SELECTOR = "app.kubernetes.io/name=crossply"
_PORT = 8080
_SECONDS = 5.0
_MOST_BYTES = 16 << 20

Source = Callable[[], Awaitable[list[Samples]]]
"""Reads the metrics of every replica."""


class NoMetrics(CrossplyError):
    """The metrics of the control plane cannot be read."""

    code = "CP-506"


def metrics_source(client: Client, data: str | None) -> Source:
    """The socket of a data directory, or the pods of a cluster."""
    if data is not None:
        return lambda: _from_socket(os.path.join(data, METRICS_SOCKET))
    return lambda: _from_pods(client)


async def _from_socket(path: str) -> list[Samples]:
    import aiohttp

    try:
        async with (
            asyncio.timeout(_SECONDS),
            aiohttp.ClientSession(connector=aiohttp.UnixConnector(path)) as session,
            session.get("http://localhost/metrics") as response,
        ):
            return [parse((await response.content.read(_MOST_BYTES)).decode(errors="replace"))]
    except (OSError, TimeoutError, aiohttp.ClientError) as problem:
        raise NoMetrics(
            f"the control plane does not answer at {path}: {problem}",
            hint="is it running? crossply up starts it",
        ) from None


async def _from_pods(client: Client) -> list[Samples]:
    try:
        listed = await client.list(_POD, label_selector=_SELECTOR)
    except KubeError as problem:
        raise NoMetrics(f"cannot list the pods of the control plane: {problem}", hint=problem.hint) from None
    pods = [
        pod for pod in map(orjson.loads, listed.items) if (pod.get("status") or {}).get("phase") == "Running"
    ]
    if not pods:
        raise NoMetrics(
            f"no pod with the label {_SELECTOR} is running",
            hint="install the chart; for Crossplane's own pods see crossply cluster top",
        )
    return list(await asyncio.gather(*(_from_pod(client, pod["metadata"]) for pod in pods)))


async def _from_pod(client: Client, metadata: dict[str, str]) -> Samples:
    namespace, name = quote(metadata["namespace"]), quote(metadata["name"])
    path = f"/api/v1/namespaces/{namespace}/pods/{name}:{_PORT}/proxy/metrics"
    try:
        async with asyncio.timeout(_SECONDS):
            reply = await client.request("GET", path, accept="text/plain")
    except (KubeError, TimeoutError) as problem:
        raise NoMetrics(
            f"cannot read the metrics of pod {name}: {problem or 'no answer'}",
            hint="it needs the right to get pods/proxy, and metrics in the chart's values",
        ) from None
    return parse(reply.data.decode(errors="replace"))
