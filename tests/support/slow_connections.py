"""Connections to a server on this machine that nothing passes through for a while."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
import time
from collections.abc import Iterator


class SlowConnections(socketserver.ThreadingTCPServer):
    """Accepts at once, connects to the server after a delay, and then passes everything on."""

    daemon_threads = True

    def __init__(self, port: int, delay: float) -> None:
        super().__init__(("127.0.0.1", 0), Relay)
        self.server_port = port
        self.delay = delay
        self.accepted = 0

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class Relay(socketserver.BaseRequestHandler):
    """One connection."""

    server: SlowConnections

    def handle(self) -> None:
        self.server.accepted += 1
        time.sleep(self.server.delay)
        with socket.create_connection(("127.0.0.1", self.server.server_port)) as server:
            replies = threading.Thread(target=forward, args=(server, self.request))
            replies.start()
            forward(self.request, server)
            replies.join()


def forward(source: socket.socket, target: socket.socket) -> None:
    """Pass on what one side sends, until either side has closed."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def slow_connections(port: int, delay: float) -> Iterator[SlowConnections]:
    """Connections to a port of this machine, each so many seconds late."""
    with SlowConnections(port, delay) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield server
        finally:
            server.shutdown()
            serving.join()
