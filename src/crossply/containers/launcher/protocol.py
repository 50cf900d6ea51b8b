"""How the launcher and whom it works for talk: packets of JSON over a socket pair, with open files beside."""

from __future__ import annotations

import array
import json
import socket
from collections.abc import Sequence
from typing import Any

NO_NETWORK = -2
"""The status of a container that was not started, since it cannot have a network of its own."""
_LARGEST = 1 << 20
_MOST_FILES = 8

Message = dict[str, Any]


def send(line: socket.socket, message: Message, files: Sequence[int] = ()) -> None:
    """Send a message, with files that the other side gets too."""
    data = json.dumps(message).encode()
    passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
    line.sendmsg([data], passed)


def receive(line: socket.socket) -> tuple[Message | None, list[int]]:
    """The next message and its files; None when the other side is gone."""
    room = socket.CMSG_LEN(_MOST_FILES * array.array("i").itemsize)
    try:
        data, passed, _, _ = line.recvmsg(_LARGEST, room, socket.MSG_CMSG_CLOEXEC)
    except ConnectionError:
        return None, []
    files = array.array("i")
    for level, kind, content in passed:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(content[: len(content) - len(content) % files.itemsize])
    return (json.loads(data) if data else None), list(files)


def pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a line, for large messages too."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LARGEST)
    return ends
