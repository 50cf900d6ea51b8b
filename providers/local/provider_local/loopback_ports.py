"""Ports of the loopback address: the one that is asked for, or a free one."""

from __future__ import annotations

import errno
import socket
from collections.abc import Collection

LOOPBACK = "127.0.0.1"
FREE_PORTS = range(8800, 9000)
"""Below the ports that systems give to outgoing connections, so a port stays free while nobody listens."""


class PortTaken(Exception):
    """Another program listens on the port."""


def listen(port: int) -> socket.socket:
    """A listening socket; raises PortTaken. Child processes do not inherit it unless it is passed to them."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(128)
    except OSError as problem:
        listener.close()
        if problem.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"port {port} is used by another program: stop that one, or set another port"
            ) from problem
        raise
    return listener


def listen_on_free_port(reserved: Collection[int]) -> socket.socket:
    """A listening socket on the first free port that is not reserved; raises PortTaken."""
    for port in FREE_PORTS:
        if port not in reserved:
            try:
                return listen(port)
            except PortTaken:
                continue
    raise PortTaken(f"no port from {FREE_PORTS.start} to {FREE_PORTS.stop - 1} is free: set a port")
