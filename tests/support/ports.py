"""Ports for servers that tests start.

A port that the system chooses is one of those that outgoing connections use, so that another process may take
it before the server listens. These are below that range, and chosen at random among thousands.
"""

from __future__ import annotations

import random
import socket

_CANDIDATES = range(20_000, 32_000)
_ATTEMPTS = 100
_RANDOM = random.SystemRandom()
_used: set[int] = set()


def free_port(host: str = "127.0.0.1") -> int:
    """A port on which nobody listens; one process gets each port once."""
    for _ in range(_ATTEMPTS):
        port = _RANDOM.choice(_CANDIDATES)
        if port not in _used and is_free(port, host):
            _used.add(port)
            return port
    raise AssertionError(f"none of {_ATTEMPTS} ports of {host} is free")


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a program may listen on this port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
