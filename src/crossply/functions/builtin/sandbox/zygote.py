"""The process that workers are forks of. It imports a language once, then does what its parent says.

It never sees a program. It has no secrets: its environment is empty, and it is started before anything else
is opened. Its parent sends it a byte with a descriptor to start a worker on, or a byte with a worker's number
to kill it; it ends, and its workers with it, when the parent goes.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
from importlib import import_module

from crossply.functions.builtin.sandbox.limits import KILL, START
from crossply.functions.builtin.sandbox.worker import Language, close_all_but, serve


def main(module: str, descriptor: int) -> None:
    """Serve a parent on a descriptor."""
    language: Language = import_module(module)
    language.prepare(b"")  # what every program needs
    gc.freeze()  # what is here already is shared by all workers, as long as nobody writes to it
    control = socket.socket(fileno=descriptor)
    workers: set[int] = set()
    try:
        while _obey(control, workers, language):
            _bury(workers)
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGKILL)


def _obey(control: socket.socket, workers: set[int], language: Language) -> bool:
    order, descriptors, _, _ = socket.recv_fds(control, 5, 1)
    if order == START and descriptors:
        worker = _forked(descriptors[0], language)
        os.close(descriptors[0])
        if worker:
            workers.add(worker)
        control.sendall(worker.to_bytes(4, "big"))
    elif order.startswith(KILL):
        worker = int.from_bytes(order[1:], "big")
        if worker in workers:
            os.kill(worker, signal.SIGKILL)
    return bool(order)


def _forked(descriptor: int, language: Language) -> int:
    """The number of a new worker, or 0 where the machine has no place for another process."""
    try:
        worker = os.fork()
    except OSError:
        return 0
    if not worker:
        _live(descriptor, language)
    return worker


def _live(descriptor: int, language: Language) -> None:
    """Be a worker, and end with it."""
    status = 1
    try:
        close_all_but(descriptor)
        serve(descriptor, language)
        status = 0
    finally:
        os._exit(status)


def _bury(workers: set[int]) -> None:
    """Forget the workers that have ended. Until then no other process gets their numbers."""
    for worker in tuple(workers):
        if os.waitpid(worker, os.WNOHANG)[0]:
            workers.discard(worker)
