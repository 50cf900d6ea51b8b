"""The one way into a container without a network: a unix socket outside, whose bytes go to a port inside.

The relay makes the container's network namespace, which has nothing but a loopback, and stays in it. Its
socket is there as soon as something listens on the port: a client can connect once the function is up.
"""

from __future__ import annotations

import os
import socket
import threading
import time

from crossply.containers.launcher import syscalls as kernel

_POLL = 0.002
_CHUNK = 1 << 18
_MOST_WAITING = 64
_SOCKETS = ("/proc/self/net/tcp", "/proc/self/net/tcp6")
_LISTENING = "0A"


def run_relay(path: str, port: int, ready: int) -> None:
    """Create the namespace, report it by the descriptor `made`, and relay until killed."""
    kernel.unshare(kernel.NEW_NETWORK)
    kernel.bring_loopback_up()
    os.write(ready, b"1")
    os.close(ready)
    outside = socket.socket(socket.AF_UNIX)
    kernel.give_up_privileges()
    while not _listens(port):
        time.sleep(_POLL)
    _listen(outside, path)
    while True:
        caller, _ = outside.accept()
        threading.Thread(target=_serve, args=(caller, port), daemon=True).start()


def _listens(port: int) -> bool:
    """Whether something listens in this network namespace; opens no connection."""
    for file in _SOCKETS:
        with open(file, encoding="ascii") as table:
            for line in table:
                fields = line.split()
                if fields[3] == _LISTENING and fields[1].endswith(f":{port:04X}"):
                    return True
    return False


def _listen(outside: socket.socket, path: str) -> None:
    """Be there under the name only when connections are accepted."""
    before = os.umask(0o177)
    try:
        outside.bind(f"{path}.new")
    finally:
        os.umask(before)
    outside.listen(_MOST_WAITING)
    os.rename(f"{path}.new", path)


def _serve(caller: socket.socket, port: int) -> None:
    with caller:
        function = _connect(port)
        if function is None:
            return
        with function:
            function.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            answers = threading.Thread(target=_pump, args=(function, caller), daemon=True)
            answers.start()
            _pump(caller, function)
            answers.join()


def _connect(port: int) -> socket.socket | None:
    for address in ("127.0.0.1", "::1"):
        try:
            return socket.create_connection((address, port))
        except OSError:
            continue
    return None


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Carry bytes one way until there are no more."""
    room = bytearray(_CHUNK)
    view = memoryview(room)
    try:
        while count := source.recv_into(room):
            target.sendall(view[:count])
    except OSError:
        _end(source, socket.SHUT_RD)
    _end(target, socket.SHUT_WR)


def _end(side: socket.socket, direction: int) -> None:
    try:
        side.shutdown(direction)
    except OSError:
        return
