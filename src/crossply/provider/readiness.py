"""Tells who started this process when it is ready, by systemd's protocol: a datagram to $NOTIFY_SOCKET."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress

VARIABLE = "NOTIFY_SOCKET"
STARTING, READY = b"STATUS=starting", b"READY=1"
_POLL_SECONDS = 0.05


def notify(state: bytes) -> None:
    """Send a state, where somebody listens."""
    address = os.environ.get(VARIABLE, "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
        sender.send(state)


async def notify_when(is_ready: Callable[[], bool]) -> None:
    """Say that this process is ready as soon as it is."""
    while not is_ready():
        await asyncio.sleep(_POLL_SECONDS)
    notify(READY)
