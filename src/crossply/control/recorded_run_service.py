"""Serving the runs that this replica recorded, and announcing where; what fails here is only logged."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import NamedTuple

from crossply.control.controller_context import Plane
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import Conflict
from crossply.runs.run_server_addresses import CONFIG_MAP, Replica, announce, retract
from crossply.runs.serving import RunServer
from crossply.runs.viewers import Viewers

_LOOPBACK = "127.0.0.1"
_AUTHENTICATION = ("extension-apiserver-authentication", "kube-system")
"""Where Kubernetes publishes the authority of client certificates."""

_log = logging.getLogger("crossply.runs")


class RunServing(NamedTuple):
    """How the runs of a replica are served."""

    replica: str = "crossply"
    """Its name among the replicas."""
    port: int = 0
    """0 for any free one."""
    pod: str = ""
    """The Pod that the replica runs in; empty outside of a cluster, where only this machine is served."""
    service_account: str = ""
    client_authority: bytes = b""
    """PEM; empty to ask the cluster for it."""

    @classmethod
    def in_environment(cls, replica: str, port: int, environment: Mapping[str, str]) -> RunServing:
        """As a replica of a Deployment, or of a process on this machine."""
        pod = environment.get("POD_NAME", "") if environment.get("KUBERNETES_SERVICE_HOST") else ""
        account = environment.get("POD_SERVICE_ACCOUNT", "")
        return cls(replica or pod or os.uname().nodename, port, pod, account)


class RunService:
    """Serves the runs of one replica from `start` to `stop`."""

    def __init__(self, plane: Plane, serving: RunServing) -> None:
        self._plane = plane
        self._serving = serving
        self._server: RunServer | None = None

    async def start(self) -> None:
        """Serve and announce; a replica that cannot continues without."""
        plane, serving = self._plane, self._serving
        if plane.runs is None:
            return
        viewers = Viewers(plane.as_controller, plane.discovery)
        authority = serving.client_authority or await _client_authority(plane.as_controller)
        try:
            self._server = RunServer(plane.runs.store, viewers, b"" if serving.pod else authority)
            port = await self._server.start(None if serving.pod else _LOOPBACK, serving.port)
            certificate = self._server.certificate
            await announce(
                plane.as_installer,
                Replica(
                    serving.replica, port, certificate, serving.pod, serving.service_account, plane.now()
                ),
            )
        except (CrossplyError, Conflict, OSError, ValueError) as problem:
            _log.warning("recorded runs are not served: %s", problem)

    async def stop(self) -> None:
        """Retract the announcement, and stop."""
        if self._server is None:
            return
        try:
            await retract(self._plane.as_installer, self._serving.replica)
        except (CrossplyError, Conflict) as problem:
            _log.debug("the address of recorded runs was not retracted: %s", problem)
        await self._server.stop()


async def _client_authority(client: Client) -> bytes:
    """Who signs client certificates, as far as we may know; without it, viewers need tokens."""
    try:
        config_map = await client.get(CONFIG_MAP, *_AUTHENTICATION)
    except CrossplyError:
        return b""
    text = ((config_map or {}).get("data") or {}).get("client-ca-file", "")
    return str(text).encode()
