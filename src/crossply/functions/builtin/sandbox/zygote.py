"""The process that forks workers. It imports a language once, then follows the orders of its parent.

It never receives a program or secrets: its environment is empty, and it starts before anything else is
opened. Its parent sends a byte with a descriptor to start a worker on it, or a byte with the PID of a
worker to kill. When the parent exits, it exits too and kills its workers.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from _socket import CMSG_SPACE, socket  # the module around it takes longer to import than all the rest here
from importlib import import_module

from crossply.functions.builtin.sandbox.frames import KILL, START
from crossply.functions.builtin.sandbox.worker import Language, close_all_but, serve

_BYTES_OF_DESCRIPTOR = 4


def main(module: str, descriptor: int) -> None:
    os.chdir("/")
    close_all_but(descriptor)  # what our parent inherited from others is not for workers
    language: Language = import_module(module)
    language.prepare(b"")  # imports that every program needs
    gc.freeze()  # share the memory with all workers: the collector would write to it
    control = socket(fileno=descriptor)
    workers: set[int] = set()
    try:
        while _handle_order(control, workers, language):
            _reap(workers)
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGKILL)


def _handle_order(control: socket, workers: set[int], language: Language) -> bool:
    order, ancillary, _, _ = control.recvmsg(5, CMSG_SPACE(_BYTES_OF_DESCRIPTOR))
    if order == START and ancillary:
        descriptor = int.from_bytes(ancillary[0][2][:_BYTES_OF_DESCRIPTOR], sys.byteorder)
        worker = _fork_worker(descriptor, language)
        os.close(descriptor)
        if worker:
            workers.add(worker)
        control.sendall(worker.to_bytes(4, "big"))
    elif order.startswith(KILL):
        worker = int.from_bytes(order[1:], "big")
        if worker in workers:
            os.kill(worker, signal.SIGKILL)
    return bool(order)


def _fork_worker(descriptor: int, language: Language) -> int:
    """The PID of a new worker, or 0 when the machine cannot start a process."""
    try:
        worker = os.fork()
    except OSError:
        return 0
    if not worker:
        _run_worker(descriptor, language)
    return worker


def _run_worker(descriptor: int, language: Language) -> None:
    status = 1
    try:
        close_all_but(descriptor)
        serve(descriptor, language)
        status = 0
    finally:
        os._exit(status)


def _reap(workers: set[int]) -> None:
    """Reap workers that have exited. Until then their PIDs are not reused."""
    for worker in tuple(workers):
        if os.waitpid(worker, os.WNOHANG)[0]:
            workers.discard(worker)
