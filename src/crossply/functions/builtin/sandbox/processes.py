"""A nursery and its workers, as their parent holds them."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from time import monotonic

from crossply.functions.builtin.sandbox import frames
from crossply.functions.builtin.sandbox.limits import (
    ANSWER,
    GRACE,
    KILL,
    LONGEST_REPLY,
    MEMORY,
    SECONDS,
    START,
    START_SECONDS,
)

_MAIN = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from crossply.functions.builtin.sandbox.zygote import main; main(sys.argv[1], int(sys.argv[2]))"
)
_KEPT_VARIABLES = ("LD_LIBRARY_PATH",)
_DIED = f"ended its process: it takes more than {MEMORY >> 20} MiB of memory, or nests too deep"

_NO_PROCESS = "cannot be run: no process can be started for it"


class ProgramError(Exception):
    """A user's program cannot be run; the text says why. It never leaves a function: it becomes fatal."""


class Broken(ProgramError):
    """The program's worker is of no use any more, or there is none; nothing is known of the place."""


class WorkerHandle:
    """One worker. It is used by one thread at a time."""

    __slots__ = ("_connection", "_number", "_nursery", "program")

    def __init__(
        self, program: bytes, connection: socket.socket, nursery: NurseryHandle, number: int
    ) -> None:
        self.program = program
        self._connection = connection
        self._nursery = nursery
        self._number = number

    def begin(self) -> None:
        """Hand over the program, and wait until it is read."""
        try:
            self._exchange(self.program, START_SECONDS)
        except Broken:
            raise
        except ProgramError as problem:
            raise Broken(str(problem)) from None  # it has nothing to answer with, and is gone

    def ask(self, question: bytes) -> bytes:
        """The program's answer to a question."""
        return self._exchange(question, SECONDS + GRACE)

    def _exchange(self, data: bytes, seconds: float) -> bytes:
        deadline = monotonic() + seconds
        try:
            frames.send(self._connection, data, deadline)
            reply = frames.receive(self._connection, LONGEST_REPLY + 1, deadline)
        except TimeoutError:
            raise Broken(f"takes longer than {SECONDS:g} seconds") from None
        except frames.TooLong:
            raise Broken(f"answer is longer than {LONGEST_REPLY >> 20} MiB") from None
        except frames.Closed:
            raise Broken(_DIED) from None
        if not reply.startswith(ANSWER):
            raise ProgramError(reply[1:].decode("utf-8", "replace"))
        return reply[1:]

    def close(self) -> None:
        """Let it go: a worker that is idle ends by itself then."""
        self._connection.close()

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._connection.close()
        self._nursery.kill(self._number)


class NurseryHandle:
    """The process that workers are forks of."""

    def __init__(self, module: str) -> None:
        self._lock = threading.Lock()
        self._control, other = socket.socketpair()
        self._control.settimeout(START_SECONDS)
        with other:
            try:
                self._process = _started(module, other.fileno())
            except OSError as problem:
                self._control.close()
                raise Broken(f"{_NO_PROCESS}: {problem}") from None

    def alive(self) -> bool:
        """Whether it can start workers."""
        return self._process.poll() is None

    def start(self, program: bytes) -> WorkerHandle:
        """A new worker, which has not read its program yet."""
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._lock:
                socket.send_fds(self._control, [START], [theirs.fileno()])
                number = self._control.recv(4, socket.MSG_WAITALL)
        except OSError:
            number = b""
        if len(number) != 4:
            self.close()
        if not int.from_bytes(number, "big"):
            ours.close()
            raise Broken(_NO_PROCESS)
        return WorkerHandle(program, ours, self, int.from_bytes(number, "big"))

    def kill(self, number: int) -> None:
        """Kill a worker."""
        with contextlib.suppress(OSError), self._lock:
            self._control.sendall(KILL + number.to_bytes(4, "big"))

    def close(self) -> None:
        """End it and all its workers."""
        self._control.close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _started(module: str, descriptor: int) -> subprocess.Popen[bytes]:
    paths = [os.path.abspath(path) for path in sys.path]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _MAIN, module, str(descriptor), *paths],
        pass_fds=(descriptor,),
        env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,  # what a terminal sends to the user's command is not for it
    )
