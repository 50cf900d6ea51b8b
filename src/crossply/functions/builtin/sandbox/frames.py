"""How a parent and its worker talk: four bytes that say how long, then so many bytes."""

from __future__ import annotations

import os
import socket
from time import monotonic

_CHUNK = 1 << 20


class Closed(Exception):
    """The other side is gone."""


class TooLong(Exception):
    """The other side says more than it may."""


def pack(data: bytes) -> bytes:
    """The bytes of one frame."""
    return len(data).to_bytes(4, "big") + data


def send(connection: socket.socket, data: bytes, deadline: float) -> None:
    """Send a frame; TimeoutError when the other side does not take it in time."""
    connection.settimeout(max(deadline - monotonic(), 0.001))
    try:
        connection.sendall(pack(data))
    except (BrokenPipeError, ConnectionResetError):
        raise Closed from None


def receive(connection: socket.socket, longest: int, deadline: float) -> bytes:
    """Wait for a frame; TimeoutError when there is none in time."""
    length = int.from_bytes(_received(connection, 4, deadline), "big")
    if length > longest:
        raise TooLong
    return _received(connection, length, deadline)


def _received(connection: socket.socket, length: int, deadline: float) -> bytes:
    parts = []
    while length:
        connection.settimeout(max(deadline - monotonic(), 0.001))
        try:
            part = connection.recv(min(length, _CHUNK))
        except ConnectionResetError:
            part = b""
        if not part:
            raise Closed
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def write(descriptor: int, data: bytes) -> None:
    """Write a frame with no system call but `write`, for a worker behind its walls."""
    left = memoryview(pack(data))
    while left:
        left = left[os.write(descriptor, left) :]


def read(descriptor: int) -> bytes:
    """Read a frame with no system call but `read`, for a worker behind its walls."""
    return _read(descriptor, int.from_bytes(_read(descriptor, 4), "big"))


def _read(descriptor: int, length: int) -> bytes:
    parts = []
    while length:
        part = os.read(descriptor, min(length, _CHUNK))
        if not part:
            raise Closed
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
