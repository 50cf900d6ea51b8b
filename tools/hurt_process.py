"""Run a piece of work in a forked process, hurt it from outside, and hear what it reports.

strace makes system calls fail, or kill the process: nothing in the process knows of it. The process is forked
from one that has everything loaded, and strace attaches before the work begins, so that it counts the system
calls of the work alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

Report = Callable[..., None]
Work = Callable[[Report], Coroutine[Any, Any, None]]

PATIENCE = 120.0
"""Seconds without a report after which the process counts as hung."""
_PR_SET_PTRACER = 0x59616D61
_ANY = ctypes.c_ulong(-1)


class CannotTrace(Exception):
    """strace is missing, or may not attach to a process here."""


class Ending(NamedTuple):
    """How a process ended."""

    hung: bool
    killed: bool
    hits: int
    """How many system calls were made to fail."""
    calls: Counter[str]
    """How often each traced system call was made, by the thread that made it most."""


def run_hurt(work: Work, hear: Callable[[list[Any]], None], log: str, tracing: list[str]) -> Ending:
    """Run the work; `hear` gets its reports as they come, and may raise to end it.

    `tracing` are the options of strace, which writes to `log`; without options it is not used.
    """
    own_socket, child_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = os.fork()
    if process == 0:
        own_socket.close()
        _work(work, child_socket)
    child_socket.close()
    tracer = None
    is_complete = False
    try:
        tracer = _attach(process, log, tracing) if tracing else None
        own_socket.send(b"begin")
        is_complete = _listen(own_socket, hear)
    finally:
        own_socket.close()
        if not is_complete:
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        if tracer is not None:
            tracer.wait()
    lines = Path(log).read_text().splitlines() if tracing else []
    hits = sum("(INJECTED)" in line for line in lines)
    return Ending(not is_complete, os.WIFSIGNALED(status), hits, _count(lines))


def _work(work: Work, parent: socket.socket) -> NoReturn:
    """The life of the forked process."""

    def report(*message: Any) -> None:
        parent.send(json.dumps(message).encode())

    code = 1
    try:
        # Where only ancestors may attach, let strace do so too.
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANY, 0, 0, 0)
        parent.recv(16)
        asyncio.run(work(report))
        code = 0
    except BaseException as error:  # noqa: BLE001 - it is told, and the process must not go on as its parent
        with contextlib.suppress(Exception):
            report("broken", repr(error))
    finally:
        os._exit(code)


def _attach(process: int, log: str, tracing: list[str]) -> subprocess.Popen[bytes]:
    program = shutil.which("strace")
    if program is None:
        raise CannotTrace("strace is not installed; on Debian: apt-get install strace")
    command = [program, "-f", "-q", "-o", log, *tracing, "-p", str(process)]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE)
    status = Path(f"/proc/{process}/status")
    while "TracerPid:\t0\n" in status.read_text():
        if tracer.poll() is not None:
            assert tracer.stderr is not None
            raise CannotTrace(f"strace cannot attach: {tracer.stderr.read().decode().strip()}")
        time.sleep(0.001)
    return tracer


def _listen(child: socket.socket, hear: Callable[[list[Any]], None]) -> bool:
    """Pass on what is reported until the process ends; false if it is silent for too long."""
    child.settimeout(PATIENCE)
    try:
        while message := child.recv(1 << 16):
            hear(json.loads(message))
    except TimeoutError:
        return False
    except ConnectionResetError:
        pass
    return True


def _count(lines: list[str]) -> Counter[str]:
    by_thread = Counter(re.findall(r"^(\d+) +(\w+)\(", "\n".join(lines), re.MULTILINE))
    calls: Counter[str] = Counter()
    for (_, call), count in by_thread.items():
        calls[call] = max(calls[call], count)
    return calls
