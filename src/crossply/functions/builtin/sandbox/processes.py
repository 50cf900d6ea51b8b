"""The zygote and its workers, as seen from the parent process."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from _thread import allocate_lock
from collections.abc import Mapping, Sequence
from time import monotonic, sleep

from crossply.functions.builtin.sandbox import frames
from crossply.functions.builtin.sandbox.limit_constants import (
    GRACE,
    MAX_REPLY,
    MEMORY,
    SECONDS,
    START_SECONDS,
)

# The standard library stays first: the parent's path may begin with the directory of a function's file.
_MAIN = (
    "import sys; sys.path += sys.argv[3:]; "
    "from crossply.functions.builtin.sandbox.zygote import main; main(sys.argv[1], int(sys.argv[2]))"
)
_PRESERVED_VARIABLES = ("LD_LIBRARY_PATH",)
_WORKER_DIED = f"ended its process: it takes more than {MEMORY >> 20} MiB of memory, or nests too deep"

_NO_PROCESS = "cannot be run: no process can be started for it"
_DESCRIPTOR = 3
"""Where a child finds the descriptor that it is given."""
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_PAUSE = 0.0005


class ProgramError(Exception):
    """A user program fails; the message says why. It never leaves a function: it becomes a fatal result."""


class WorkerFailed(ProgramError):
    """The worker is lost, or cannot be started; the message has no line of the program."""


class WorkerProcess:
    """One worker. One thread uses it at a time."""

    __slots__ = ("_connection", "_number", "_zygote", "has_retired", "program")

    def __init__(self, program: bytes, connection: socket.socket, zygote: ZygoteProcess, number: int) -> None:
        self.program = program
        self.has_retired = False
        """Whether it exits after its last reply."""
        self._connection = connection
        self._zygote = zygote
        self._number = number

    def load_program(self) -> None:
        """Send the program and wait until it is loaded."""
        try:
            self._exchange(self.program, START_SECONDS)
        except WorkerFailed:
            raise
        except ProgramError as error:
            raise WorkerFailed(str(error)) from None  # the worker has exited

    def ask(self, question: bytes) -> bytes:
        return self._exchange(question, SECONDS + GRACE)

    def _exchange(self, data: bytes, seconds: float) -> bytes:
        deadline = monotonic() + seconds
        try:
            frames.send(self._connection, data, deadline)
            reply = frames.receive(self._connection, MAX_REPLY + 2, deadline)
        except TimeoutError:
            raise WorkerFailed(f"takes longer than {SECONDS:g} seconds") from None
        except frames.FrameTooLong:
            raise WorkerFailed(f"answer is longer than {MAX_REPLY >> 20} MiB") from None
        except frames.ConnectionClosed:
            raise WorkerFailed(_WORKER_DIED) from None
        self.has_retired = reply.startswith(frames.RETIRES)
        if not reply.startswith(frames.ANSWER, 1):
            raise ProgramError(reply[2:].decode("utf-8", "replace"))
        return reply[2:]

    def close(self) -> None:
        """Close the connection: an idle worker exits by itself then."""
        self._connection.close()

    def kill(self) -> None:
        self._connection.close()
        self._zygote.kill(self._number)


class ZygoteProcess:
    """The process that workers are forks of."""

    def __init__(self, module: str) -> None:
        self._lock = allocate_lock()
        self._control, other = socket.socketpair()
        self._control.settimeout(START_SECONDS)
        with other:
            try:
                self._process = _start_process(module, other.fileno())
            except OSError as error:
                self._control.close()
                raise WorkerFailed(f"{_NO_PROCESS}: {error}") from None

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def start(self, program: bytes) -> WorkerProcess:
        """Fork a worker, which has not loaded its program yet."""
        parent_end, worker_end = socket.socketpair()
        try:
            with worker_end, self._lock:
                socket.send_fds(self._control, [frames.START], [worker_end.fileno()])
                number = self._control.recv(4, socket.MSG_WAITALL)
        except OSError:
            number = b""
        if len(number) != 4:
            self.close()
        if not int.from_bytes(number, "big"):
            parent_end.close()
            raise WorkerFailed(_NO_PROCESS)
        return WorkerProcess(program, parent_end, self, int.from_bytes(number, "big"))

    def kill(self, number: int) -> None:
        with contextlib.suppress(OSError), self._lock:
            self._control.sendall(frames.KILL + number.to_bytes(4, "big"))

    def close(self) -> None:
        """End the zygote and all its workers."""
        self._control.close()
        self._process.wait(GRACE)


def _start_process(module: str, descriptor: int) -> _ChildProcess:
    paths = [os.path.abspath(path) for path in sys.path]
    return _ChildProcess(
        [sys.executable, "-I", "-S", "-c", _MAIN, module, str(_DESCRIPTOR), *paths],
        descriptor,
        {name: os.environ[name] for name in _PRESERVED_VARIABLES if name in os.environ},
    )


class _ChildProcess:
    """A program in a session of its own, with nothing open but one descriptor.

    It is started and reaped without `subprocess`, whose import takes as long as half of Python.
    """

    __slots__ = ("_has_ended", "pid")

    def __init__(self, command: Sequence[str], descriptor: int, environ: Mapping[str, str]) -> None:
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
            (os.POSIX_SPAWN_DUP2, 0, 1),
            (os.POSIX_SPAWN_DUP2, 0, 2),
            (os.POSIX_SPAWN_DUP2, descriptor, _DESCRIPTOR),
        ]
        # A session of its own: it must not receive signals of the user's terminal.
        self.pid = os.posix_spawn(
            command[0],
            list(command),
            dict(environ),
            file_actions=actions,
            setsid=True,
            setsigdef=_IGNORED_BY_PYTHON,
        )
        self._has_ended = False

    def is_alive(self) -> bool:
        if not self._has_ended:
            try:
                self._has_ended = os.waitpid(self.pid, os.WNOHANG)[0] != 0
            except ChildProcessError:
                self._has_ended = True  # reaped by somebody else
        return not self._has_ended

    def wait(self, seconds: float) -> None:
        """Wait until it has ended; after some seconds it is killed."""
        deadline = monotonic() + seconds
        while self.is_alive():
            if monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                deadline = monotonic() + seconds
            sleep(_PAUSE)
