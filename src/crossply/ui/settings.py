"""How the dashboard is run."""

from __future__ import annotations

from typing import NamedTuple

from crossply.functions.host_access_policy import HostAccess
from crossply.kube.config import ClusterConfig


class Settings(NamedTuple):
    config: ClusterConfig
    """How the API server is reached; without `login`, also as whom."""
    key: bytes
    """Signs one-time tokens (see `one_time_token`)."""
    allow_writes: bool = False
    login: bool = False
    """Viewers log in with a bearer token of their own; the credentials of `config` are not used."""
    hosts: tuple[str, ...] = ()
    """Host names, besides those of loopback, that browsers may reach the dashboard by."""
    logs: str = ""
    """The directory in which `crossply up` keeps the output of packages; empty where pods have it."""
    host_access: HostAccess = HostAccess()
    """What Functions of the control plane may use of this machine in the playground and in plans."""
    metrics_socket: str = ""
    """The Unix socket that serves the control plane's metrics; empty where there is none."""
