"""A network of its own for a container: pasta carries what it sends, as an ordinary program of this machine.

The container has an interface with the addresses of this machine, reaches what this machine reaches, and
listens on ports that are visible to it alone. Of the loopback of this machine it reaches chosen ports only.
"""

from __future__ import annotations

import ipaddress
import os
import shutil
from collections.abc import Mapping
from typing import NamedTuple

_PASTA = "pasta"
_SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin")
_RESOLVER_FILES = ("/etc/resolv.conf", "/run/systemd/resolve/resolv.conf")
"""The second has the servers behind a resolver that listens on loopback."""
_DNS = 53
_MOST_BYTES = 64 << 10
NETNS, PID_FILE = "{netns}", "{pidfile}"
"""What the launcher puts into the command."""


class PortForwards(NamedTuple):
    """TCP ports between the loopback of a container and that of this machine."""

    reachable: tuple[int, ...] = ()
    """Ports of this machine that the container reaches as its own localhost."""
    published: tuple[tuple[int, int], ...] = ()
    """A port of this machine each, and the port in the container that it leads to."""


class Resolver(NamedTuple):
    """The resolv.conf of a container, and whether that names the loopback of this machine."""

    text: bytes
    by_loopback: bool = False


def find_pasta(environ: Mapping[str, str]) -> str:
    """The path of pasta; empty where it is not installed."""
    path = os.pathsep.join([environ.get("PATH", os.defpath), *_SYSTEM])
    return shutil.which(_PASTA, path=path) or ""


def pasta_command(pasta: str, forwards: PortForwards, resolver: Resolver) -> list[str]:
    """How pasta is started for a network namespace."""
    reachable = [*forwards.reachable, *([_DNS] if resolver.by_loopback else [])]
    published = [word for host, inside in forwards.published for word in ("-t", f"127.0.0.1/{host}:{inside}")]
    return [
        *(pasta, "--foreground", "--quiet", "--stderr", "--config-net", "--no-map-gw"),
        *("--pid", PID_FILE, "--netns-only", "--netns", NETNS),
        *(published or ("-t", "none")),
        *("-u", "none"),
        *("-T", ",".join(map(str, dict.fromkeys(reachable))) or "none"),
        *("-U", str(_DNS) if resolver.by_loopback else "none"),
    ]


def find_resolver(files: tuple[str, ...] = _RESOLVER_FILES) -> Resolver:
    """The resolver of this machine, as a container with a network of its own can reach it."""
    texts = [text for file in files if (text := _read(file))]
    for text in texts:
        lines = [line for line in text.splitlines() if not _is_loopback_server(line)]
        if any(line.startswith("nameserver") for line in lines):
            return Resolver("\n".join([*lines, ""]).encode())
    others = [line for line in (texts or [""])[0].splitlines() if not line.startswith("nameserver")]
    return Resolver("\n".join(["nameserver 127.0.0.1", *others, ""]).encode(), by_loopback=True)


def _is_loopback_server(line: str) -> bool:
    words = line.split()
    if len(words) < 2 or words[0] != "nameserver":
        return False
    try:
        return ipaddress.ip_address(words[1].partition("%")[0]).is_loopback
    except ValueError:
        return True


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
