"""Running a function as a local process that serves gRPC: a function on its author's machine.

The command gets its address in one of three forms: `{socket}` in it becomes the path of a unix socket
in a directory that only this user can enter; `{address}` and `{port}` become a free port on loopback, which
the environment variable CROSSPLY_FUNCTION_ADDRESS names too. The process is started at the first call and
stopped at close; one that died, or whose files changed, is restarted by the next call.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import tempfile
import threading
import time
from collections import deque

from crossply.compose.function_messages import Request, Response
from crossply.functions.failures import FunctionCrashed, FunctionTimedOut, FunctionUnavailable
from crossply.functions.process_lifeline import ChildProcess
from crossply.functions.remote import Remote
from crossply.functions.source_watcher import SourceFiles

ADDRESS_VARIABLE = "CROSSPLY_FUNCTION_ADDRESS"
_TAIL_LINES = 12
_LONGEST_LINE = 2000
_POLL = 0.01
_GRACE = 3.0


class LocalProcess:
    """A function behind gRPC in a process of its own."""

    __slots__ = ("_command", "_lock", "_name", "_started")

    def __init__(self, name: str, command: str) -> None:
        self._name = name
        self._command = command
        self._started: _Started | None = None
        self._lock = threading.Lock()

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call the function, starting its process if none runs."""
        deadline = time.monotonic() + timeout
        with self._lock:
            started = self._running(deadline)
            started.calls += 1
        try:
            return started.remote(request, max(deadline - time.monotonic(), 0.001))
        except FunctionUnavailable:
            # A process that dies in the middle of a call shows first as a broken connection.
            started.raise_if_exited(within=0.5)
            raise
        finally:
            self._leave(started)

    def close(self) -> None:
        """Stop the process and everything it started."""
        with self._lock:
            started, self._started = self._started, None
        if started is not None:
            started.stop()

    def _running(self, deadline: float) -> _Started:
        """The process of the files as they are now."""
        before = self._started
        changed = before.files.changed() if before is not None else ""
        if before is not None and not changed and before.alive():
            return before
        if changed:
            _say(f'Function "{self._name}": {changed} changed, so its process is restarted')
        self._started = None
        if before is not None and not before.calls:
            before.stop()
        started = _Started(self._name, self._command)
        try:
            started.wait_until_listening(deadline)
        except BaseException:
            started.stop()
            raise
        self._started = started
        return started

    def _leave(self, started: _Started) -> None:
        """A process that was replaced ends with its last call."""
        with self._lock:
            started.calls -= 1
            over = started is not self._started and not started.calls
        if over:
            started.stop()


def _say(line: str) -> None:
    import logging

    logging.getLogger("crossply.functions").warning(line)


class _Started:
    """One run of the command."""

    def __init__(self, name: str, command: str) -> None:
        self._name = name
        self._directory = tempfile.TemporaryDirectory(prefix="crossply-function-")
        self._socket = os.path.join(self._directory.name, "function.sock") if "{socket}" in command else ""
        self._port = 0 if self._socket else _free_port()
        self._written: deque[str] = deque(maxlen=_TAIL_LINES)
        self.calls = 0
        """How many calls are under way."""
        self._over = False
        target = f"unix:{self._socket}" if self._socket else f"127.0.0.1:{self._port}"
        self.remote = Remote(name, target)
        self._lifeline = ChildProcess()
        self._process = self._start(command, target)
        self.files = SourceFiles(shlex.split(command), time.monotonic)
        self._reader = threading.Thread(target=self._drain_output, daemon=True)
        self._reader.start()

    def _start(self, command: str, target: str) -> subprocess.Popen[str]:
        places = {"{socket}": self._socket, "{address}": target, "{port}": str(self._port)}
        for place, value in places.items():
            command = command.replace(place, value)
        try:
            return self._lifeline.start(shlex.split(command), {**os.environ, ADDRESS_VARIABLE: target})
        except (OSError, ValueError) as problem:
            self._directory.cleanup()
            message = f'cannot run Function "{self._name}": cannot start {command!r}: {problem}'
            raise FunctionUnavailable(message, hint="correct the annotation crossply.dev/command") from None

    def _drain_output(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            while line := lines.readline(_LONGEST_LINE):
                self._written.append(line.rstrip("\n"))

    def alive(self) -> bool:
        """Return whether the process still runs."""
        return self._process.poll() is None

    def wait_until_listening(self, deadline: float) -> None:
        """Wait until the process listens at its address."""
        while not self._accepts():
            self.raise_if_exited(within=_POLL)
            if time.monotonic() > deadline:
                message = (
                    f'cannot run Function "{self._name}": its process does not listen on {self._place()}'
                )
                raise FunctionTimedOut(f"{message}{self._tail()}", hint=_LISTEN_HINT)

    def raise_if_exited(self, within: float) -> None:
        """Raise if the process ends in the next moments."""
        try:
            status = self._process.wait(within)
        except subprocess.TimeoutExpired:
            return
        self._reader.join(_GRACE)
        reason = f"signal {-status}" if status < 0 else f"exit status {status}"
        raise FunctionCrashed(
            f'cannot run Function "{self._name}": its process ended with {reason}{self._tail()}'
        )

    def _accepts(self) -> bool:
        family = socket.AF_UNIX if self._socket else socket.AF_INET
        with socket.socket(family) as probe:
            probe.settimeout(1)
            return probe.connect_ex(self._socket or ("127.0.0.1", self._port)) == 0

    def _place(self) -> str:
        return f"unix socket {self._socket}" if self._socket else f"127.0.0.1:{self._port}"

    def _tail(self) -> str:
        return ": " + "\n".join(self._written) if self._written else ""

    def stop(self) -> None:
        """Ask the process to end, then make it."""
        if self._over:
            return
        self._over = True
        self.remote.close()
        self._signal(15)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._signal(9)  # also reaches children that outlived their parent
        self._lifeline.cut()
        self._process.wait()
        self._reader.join(_GRACE)
        self._directory.cleanup()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


_LISTEN_HINT = (
    "say {socket}, {address} or {port} in crossply.dev/command where the function takes its address"
)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
