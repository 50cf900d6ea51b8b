"""Flags of `crossply up` for the packages that run on this machine."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Flag, Invocation, UsageError
from crossply.cli.local_control_plane.data_directory import LOGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.control.runtimes.package_runtime_choice import PackageRuntimes
    from crossply.control.runtimes.provider_runtime import ProviderSettings

_OWN, _HOST = "own", "host"
_CONTAINERS = "Function=Container;Provider=Container"
PROVIDER_FLAGS = (
    Flag(
        "package-runtime",
        "Where packages run: in a Container on this machine, or External (started by something else), for "
        "each kind of package.",
        kind="string",
        default=_CONTAINERS,
        placeholder="KIND=RUNTIME",
    ),
    Flag(
        "provider-network",
        "The network of containers of Providers: one of their own, which needs pasta (Debian's package "
        "passt), or that of this machine, where two Providers cannot listen on the same port.",
        kind="string",
        choices=(_OWN, _HOST),
        default=_OWN,
    ),
    Flag(
        "provider-host-ports",
        "Ports of this machine that Providers in a network of their own reach at localhost, such as 5432 of "
        "a database. By default they reach the API server there, and nothing else. Repeatable.",
        kind="strings",
        placeholder="PORT",
    ),
)


def package_runtimes(invocation: Invocation) -> PackageRuntimes:
    """What --package-runtime says; kinds that it does not name run in containers."""
    from crossply.control.runtimes.package_runtime_choice import DEPLOYMENT, ON_THIS_MACHINE, parse_runtimes

    runtimes = parse_runtimes(invocation["package-runtime"], ON_THIS_MACHINE)
    if DEPLOYMENT in runtimes:
        raise UsageError("--package-runtime: no cluster runs Deployments here, use Container or External")
    return runtimes


def provider_settings(invocation: Invocation, data: str) -> ProviderSettings:
    """What the flags say."""
    from crossply.control.runtimes.provider_network_isolation import ProviderNetwork
    from crossply.control.runtimes.provider_runtime import ProviderSettings

    root = os.path.abspath(data)
    words = ",".join(invocation["provider-host-ports"] or ()).split(",")
    ports = tuple(_port(word.strip()) for word in words if word.strip())
    return ProviderSettings(
        directory=os.path.join(root, "providers"),
        logs=os.path.join(root, LOGS),
        state=os.path.join(root, "provider-data"),
        network=ProviderNetwork(invocation["provider-network"] == _OWN, ports),
    )


def _port(word: str) -> int:
    if not word.isascii() or not word.isdecimal() or not 0 < int(word[:6]) < 65536:
        raise UsageError(f"--provider-host-ports: {word} is not a port")
    return int(word)
