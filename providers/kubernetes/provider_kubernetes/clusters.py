"""Clients of clusters: of the one that the control plane is in, and of those that kubeconfigs name."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig, load_config
from crossply.kube.discovery import Discovery
from crossply.kube.kind import Kind
from crossply.kube.kubeconfig import parse_kubeconfig
from crossply.provider import ExternalError
from crossply.values import Object

LOCAL = b""


class Cluster:
    """One API server, and what it serves."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._discovery = Discovery(client)
        self.applied_states: dict[str, tuple[str, str]] = {}
        """For an Object's UID: the version of its external object and the manifest that were found equal."""

    async def kind_of(self, obj: Object) -> Kind:
        """The kind of an object or of a reference to one."""
        return await self._discovery.kind_for(str(obj.get("apiVersion") or ""), str(obj.get("kind") or ""))

    async def get(self, reference: Object) -> Object | None:
        """The object that a reference names."""
        kind = await self.kind_of(reference)
        namespace = str(reference.get("namespace") or "")
        return await self.client.get(kind, str(reference["name"]), namespace if kind.namespaced else "")


_clusters: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[bytes, Cluster]] = WeakKeyDictionary()


async def cluster_of(kubeconfig: bytes) -> Cluster:
    """The cluster of a kubeconfig, or the control plane's own for none; connections are kept."""
    clusters = _clusters.setdefault(asyncio.get_running_loop(), {})
    if kubeconfig not in clusters:
        client = Client(load_config() if kubeconfig == LOCAL else _config_from(kubeconfig))
        await client.__aenter__()
        clusters[kubeconfig] = Cluster(client)
    return clusters[kubeconfig]


async def close_clusters() -> None:
    """Close the connections of this event loop."""
    for cluster in _clusters.pop(asyncio.get_running_loop(), {}).values():
        await cluster.client.__aexit__(None, None, None)


def _config_from(kubeconfig: bytes) -> ClusterConfig:
    """A kubeconfig from a Secret may neither start programs nor read files of this machine."""
    try:
        return parse_kubeconfig(kubeconfig)
    except CrossplyError as problem:
        raise ExternalError(
            f"the kubeconfig in the credentials cannot be used: {problem}",
            hint="put one into the Secret whose certificates and tokens are inside of it",
        ) from None
