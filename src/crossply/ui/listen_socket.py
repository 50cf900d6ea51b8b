"""The listening socket of the dashboard, and its address for browsers."""

from __future__ import annotations

import socket

from crossply.errors import CrossplyError

LOOPBACK = "127.0.0.1"


class PortInUse(CrossplyError):
    """The dashboard cannot listen on its port."""

    code = "CP-897"
    hint = "choose another one with --port, or --port 0 for any free one"


def listen(port: int, host: str = LOOPBACK) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises PortInUse."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as problem:
        listener.close()
        raise PortInUse(f"cannot listen on port {port}: {problem.strerror or problem}") from None
    listener.setblocking(False)
    return listener


def address_of(listener: socket.socket, token: str = "") -> str:
    """The address to open in a browser."""
    base = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
    return f"{base}login?token={token}" if token else base
