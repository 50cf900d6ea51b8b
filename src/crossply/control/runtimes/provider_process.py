"""A Provider as a process of this machine, for its author: the command that an annotation names.

The process ends with the control plane, even when that is killed. It is restarted when its files change:
the program itself, and the Python files of its directory.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import subprocess
import threading
from collections.abc import Iterable
from contextlib import suppress

from crossply.containers.log_file import LogFile
from crossply.control.runtimes.manifest_metadata import PORT
from crossply.control.runtimes.runtime import NotRunning
from crossply.functions.process_lifeline import ChildProcess
from crossply.values.file_times import FileTimes, changed_file, read_file_times

_GRACE = 5.0
_LONGEST_LINE = 16 << 10
_MOST_FILES = 2000
_NOT_SOURCES = ("__pycache__", "node_modules", "site-packages", "dist", "build", "tests")
_VARIABLE = "NOTIFY_SOCKET"
_READY = "READY=1"
_LONGEST = 4096


class ProcessProgram:
    """A command, the directory that it runs in, and its environment."""

    def __init__(self, words: Iterable[str], directory: str, environment: dict[str, str]) -> None:
        self._words, self._directory, self._environment = tuple(words), directory, environment
        self._times: FileTimes = {}
        self.webhook_port = PORT
        self.network_problem = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessProgram) and self._inputs == other._inputs

    def __hash__(self) -> int:
        return hash(self._words)

    @property
    def _inputs(self) -> tuple[object, ...]:
        return self._words, self._directory, self._environment

    async def start(self, log: LogFile) -> RunningProcess:
        """Start the command; raises NotRunning."""
        self._times = await asyncio.to_thread(self._read_times)
        lifeline, readiness = ChildProcess(), _ReadinessSocket()
        environment = {**os.environ, **self._environment, _VARIABLE: readiness.address}
        try:
            process = lifeline.start(list(self._words), environment, self._directory or None)
        except (OSError, ValueError) as problem:
            readiness.close()
            command = " ".join(self._words)
            raise NotRunning(
                f"cannot start {command!r}: {problem}", hint="correct the annotation crossply.dev/command"
            ) from None
        log.note(f"started as process {process.pid}")
        return RunningProcess(process, lifeline, readiness, log)

    def changed(self) -> str:
        """A source file that changed since the last time."""
        before, self._times = self._times, self._read_times()
        return changed_file(before, self._times)

    def _read_times(self) -> FileTimes:
        program = os.path.join(self._directory, self._words[0])
        return read_file_times((program, *_python_files(self._directory)))


def _python_files(directory: str) -> list[str]:
    """The Python files of a directory; none where there are too many."""
    files: list[str] = []
    for folder, names, file_names in os.walk(directory) if directory else ():
        names[:] = [name for name in names if not name.startswith(".") and name not in _NOT_SOURCES]
        files += [os.path.join(folder, name) for name in file_names if name.endswith(".py")]
        if len(files) > _MOST_FILES:
            return []
    return files


class RunningProcess:
    """One run of the command. Threads read what it writes and wait for its end."""

    def __init__(
        self,
        process: subprocess.Popen[str],
        lifeline: ChildProcess,
        readiness: _ReadinessSocket,
        log: LogFile,
    ) -> None:
        self._process, self._lifeline, self._log = process, lifeline, log
        self._readiness = readiness
        self._loop = asyncio.get_running_loop()
        self._exit: asyncio.Future[str] = self._loop.create_future()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        threading.Thread(target=self._reap, daemon=True).start()

    async def wait(self) -> str:
        """How it ended."""
        return await asyncio.shield(self._exit)

    async def ready(self) -> None:
        await self._readiness.ready.wait()

    @property
    def says_when_ready(self) -> bool:
        return self._readiness.says_when

    async def stop(self) -> None:
        """Ask the process group to end, then make it."""
        self._signal(15)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await asyncio.shield(self._exit)
        self._signal(9)
        await self._exit

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            while line := lines.readline(_LONGEST_LINE):
                self._log.write(line)

    def _reap(self) -> None:
        status = self._process.wait()
        self._signal(9)  # what it started and left behind
        self._lifeline.cut()
        self._reader.join(_GRACE)
        reason = f"it ended with signal {-status}" if status < 0 else f"it ended with exit status {status}"
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._finish, reason)

    def _finish(self, reason: str) -> None:
        self._readiness.close()
        self._exit.set_result(reason)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


class _ReadinessSocket:
    """A socket for datagrams of one process. Its address has no file, so no directory is too long for it."""

    def __init__(self) -> None:
        name = f"crossply-ready-{secrets.token_hex(16)}"
        self.address = f"@{name}"
        self.says_when = False
        """Whether the process has sent a state: then it also reports when it is ready."""
        self.ready = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.setblocking(False)
        self._socket.bind(f"\0{name}")
        self._loop.add_reader(self._socket, self._receive)

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._socket.close()

    def _receive(self) -> None:
        with suppress(BlockingIOError, OSError):
            lines = self._socket.recv(_LONGEST).decode("utf-8", "replace").splitlines()
            self.says_when = True
            if _READY in lines:
                self.ready.set()
