"""Messages between a parent and its worker: four bytes of length, then the data.

The data of a reply begins with two bytes that say what it is. Orders to the zygote begin with one, and have
no length.
"""

from __future__ import annotations

import os
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:  # workers import this module and never use sockets
    import socket

STAYS, RETIRES = b"+", b"-"
"""The first byte of a reply of a worker: whether it can be asked again."""

ANSWER, FAILURE = b"=", b"!"
"""The second byte of a reply of a worker."""

START, KILL = b"S", b"K"
"""The first byte of an order to the zygote."""

_CHUNK = 1 << 20


class ConnectionClosed(Exception):
    """The peer closed the connection."""


class FrameTooLong(Exception):
    """The peer sends more than the limit."""


def pack(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def send(connection: socket.socket, data: bytes, deadline: float) -> None:
    """Send a frame; TimeoutError when the peer does not receive it in time."""
    connection.settimeout(max(deadline - monotonic(), 0.001))
    try:
        connection.sendall(pack(data))
    except (BrokenPipeError, ConnectionResetError):
        raise ConnectionClosed from None


def receive(connection: socket.socket, max_length: int, deadline: float) -> bytes:
    """Receive a frame; TimeoutError when none arrives in time."""
    length = int.from_bytes(_receive_exactly(connection, 4, deadline), "big")
    if length > max_length:
        raise FrameTooLong
    return _receive_exactly(connection, length, deadline)


def _receive_exactly(connection: socket.socket, length: int, deadline: float) -> bytes:
    parts = []
    while length:
        connection.settimeout(max(deadline - monotonic(), 0.001))
        try:
            part = connection.recv(min(length, _CHUNK))
        except ConnectionResetError:
            part = b""
        if not part:
            raise ConnectionClosed
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def write(descriptor: int, data: bytes) -> None:
    """Write a frame with the system call `write` only, for a confined worker."""
    left = memoryview(pack(data))
    while left:
        left = left[os.write(descriptor, left) :]


def read(descriptor: int) -> bytes:
    """Read a frame with the system call `read` only, for a confined worker."""
    return _read_exactly(descriptor, int.from_bytes(_read_exactly(descriptor, 4), "big"))


def _read_exactly(descriptor: int, length: int) -> bytes:
    parts = []
    while length:
        part = os.read(descriptor, min(length, _CHUNK))
        if not part:
            raise ConnectionClosed
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
