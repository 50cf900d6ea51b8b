"""A viewer of the dashboard: a client with the viewer's rights, and what it has read."""

from __future__ import annotations

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.ui.cluster_view import ClusterView
from crossply.ui.metrics_source import MetricsSource


class Viewer:
    """One identity. Nothing is read before the first page is."""

    def __init__(self, config: ClusterConfig, metrics_socket: str = "") -> None:
        self._config = config
        self.metrics = MetricsSource(metrics_socket)
        self._client: Client | None = None
        self._view: ClusterView | None = None

    async def open(self) -> None:
        """Make the client; may be called again after `close`."""
        if self._client is None:
            self._client = await Client(self._config).__aenter__()
            self._view = ClusterView(self._client)

    @property
    def client(self) -> Client:
        assert self._client is not None
        return self._client

    @property
    def view(self) -> ClusterView:
        assert self._view is not None
        return self._view

    async def close(self) -> None:
        if self._view is not None:
            await self._view.close()
        if self._client is not None:
            await self._client.__aexit__(None, None, None)
        self._view = self._client = None
