"""The settings of a container: limits, mounts, network, and where images are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crossply.containers.pasta import PortForwards
from crossply.values.cache_directory import cache_directory

CRUN, RUNC = "crun", "runc"
ENGINES = (CRUN, RUNC)
ENGINE_VARIABLE = "CROSSPLY_CONTAINER_ENGINE"
STORE_VARIABLE = "CROSSPLY_CONTAINER_STORE"

ISOLATED, RUNNER, OWN = "Isolated", "Runner", "Own"

MEBIBYTE = 1 << 20


class Limits(NamedTuple):
    """What a container may use. `limits.py` decides which of them can be enforced here, and how."""

    memory: int = 512 * MEBIBYTE
    """Bytes, of all its processes and its temporary files together."""
    cpu: float = 1.0
    """Cores."""
    pids: int = 512
    """Processes and threads."""
    scratch: int = 64 * MEBIBYTE
    """Bytes of temporary files, which are in memory."""


class Mount(NamedTuple):
    """A file or directory of the host that the container can read and not write."""

    source: str
    target: str


class Settings(NamedTuple):
    """One container, besides its image."""

    limits: Limits = Limits()
    network: str = ISOLATED
    """Isolated: nothing but its own loopback. Runner: the network of this process. Own: of its own."""
    forwards: PortForwards = PortForwards()
    """Ports between a network of its own and this machine."""
    hostname: str = "function"
    log_file: str = ""
    """Where the output of a served container is kept; empty for nowhere."""
    arguments: tuple[str, ...] | None = None
    """Instead of the image's command, after its entry point."""
    command: tuple[str, ...] = ()
    """Instead of the image's entry point and command; empty for those."""
    environment: tuple[str, ...] = ()
    """`KEY=value` each, over the image's own."""
    mounts: tuple[Mount, ...] = ()
    tls_certificates: str = ""
    """A directory with tls.crt, tls.key and ca.crt for the function to serve with; plaintext without.

    The certificate must be good for `localhost`, which is what a function in a container is called by.
    """
    engine: str = ""
    """crun or runc; by default the first that is installed."""
    idle_seconds: float = 600.0
    """A served container without a call for so long is stopped; the next call starts it again."""
    start_seconds: float = 60.0
    """How long a served container may take until it accepts calls."""
    timeout: float = 20.0
    """Seconds that a container may take that runs to completion."""
    largest_output: int = 4 * MEBIBYTE
    """Bytes that a container that runs to completion may write to its standard output."""


def store_directory(environ: Mapping[str, str]) -> str:
    """The default directory of images."""
    if environ.get(STORE_VARIABLE):
        return environ[STORE_VARIABLE]
    return cache_directory(environ, "containers")
