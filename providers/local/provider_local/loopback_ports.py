"""Ports of the loopback address: the one that is asked for, or a free one."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Collection, Mapping

LOOPBACK = "127.0.0.1"
PORTS_VARIABLE = "CROSSPLY_LOCAL_PORTS"
DEFAULT_PORTS = range(8800, 9000)
"""Below the ports that systems give to outgoing connections, so a port stays free while nobody listens."""


class PortInUse(Exception):
    """Another program listens on the port."""


def listen(port: int) -> socket.socket:
    """A listening socket; raises PortInUse. Child processes do not inherit it unless it is passed to them."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(128)
    except OSError as problem:
        listener.close()
        if problem.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"port {port} is used by another program: stop that one, or set another port"
            ) from problem
        raise
    return listener


def selectable_ports(environment: Mapping[str, str] = os.environ) -> range:
    """The ports that may be chosen; the operator may say which, such as 8800-8999."""
    text = environment.get(PORTS_VARIABLE, "")
    if not text:
        return DEFAULT_PORTS
    match = re.fullmatch(r"(\d{4,5})-(\d{4,5})", text)
    if match is None:
        raise ValueError(f'{PORTS_VARIABLE} is "{text}", which is not like 8800-8999')
    return range(int(match[1]), int(match[2]) + 1)


def listen_on_free_port(reserved: Collection[int]) -> socket.socket:
    """A listening socket on the first free port that is not reserved; raises PortInUse."""
    ports = selectable_ports()
    for port in ports:
        if port not in reserved:
            try:
                return listen(port)
            except PortInUse:
                continue
    raise PortInUse(f"no port from {ports.start} to {ports.stop - 1} is free: set a port")
