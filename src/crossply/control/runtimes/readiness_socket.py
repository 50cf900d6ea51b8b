"""Where a process that was started here says that it is ready, by systemd's protocol."""

from __future__ import annotations

import asyncio
import secrets
import socket
from contextlib import suppress

VARIABLE = "NOTIFY_SOCKET"
_READY = "READY=1"
_LONGEST = 4096


class ReadinessSocket:
    """A socket for datagrams of one process. Its address has no file, so no directory is too long for it."""

    def __init__(self) -> None:
        name = f"crossply-ready-{secrets.token_hex(16)}"
        self.address = f"@{name}"
        self.says_when = False
        """Whether the process has sent a state: then it also reports when it is ready."""
        self.ready = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.setblocking(False)
        self._socket.bind(f"\0{name}")
        self._loop.add_reader(self._socket, self._receive)

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._socket.close()

    def _receive(self) -> None:
        with suppress(BlockingIOError, OSError):
            lines = self._socket.recv(_LONGEST).decode("utf-8", "replace").splitlines()
            self.says_when = True
            if _READY in lines:
                self.ready.set()
