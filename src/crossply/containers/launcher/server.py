"""The launcher's main loop: starts containers and reports when they end."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from typing import Any

from crossply.containers.launcher import protocol as wire
from crossply.containers.launcher.bundle import Bundle
from crossply.containers.launcher.container_network_namespace import NetworkFailed

_CHECK_INTERVAL = 0.05
"""Seconds between looks at the memory of containers that no control group bounds."""
_SOON = 0.01
"""Seconds between looks for the first process of a container that is to be ended while it still starts."""


class _Run:
    """One container and the process of the engine that waits for it."""

    def __init__(self, bundle: Bundle, pid: int, most_memory: int) -> None:
        self.bundle, self.pid, self.most_memory = bundle, pid, most_memory
        self.why = ""
        self.killing = False


class LauncherServer:
    """Serves one line until its other end is closed."""

    def __init__(self, line: socket.socket, place: str) -> None:
        self._line = line
        self._place = place
        self._runs: dict[str, _Run] = {}
        self._checked_at = 0.0
        self._wakeup_reader, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Serve."""
        line, wakeup = self._line.fileno(), self._wakeup_reader
        while True:
            ready, _, _ = select.select([line, wakeup], [], [], self._pause())
            if wakeup in ready:
                os.read(wakeup, 4096)
                self._reap()
            if line in ready and not self._obey():
                return
            self._check_runs()

    def _pause(self) -> float | None:
        """Seconds until the next check is due, unless something happens."""
        if any(run.killing for run in self._runs.values()):
            return _SOON
        return _CHECK_INTERVAL if any(run.most_memory for run in self._runs.values()) else None

    def _obey(self) -> bool:
        message, files = wire.receive(self._line)
        if message is None:
            return False
        try:
            if "start" in message:
                self._start(message["start"], files)
            elif message.get("kill") in self._runs:
                self._kill(self._runs[message["kill"]])
            elif message.get("terminate") in self._runs:
                _signal(self._runs[message["terminate"]].bundle.first_process(), signal.SIGTERM)
        finally:
            for file in files:
                os.close(file)
        return True

    def _start(self, request: dict[str, Any], files: list[int]) -> None:
        bundle = Bundle(self._place, request)
        try:
            bundle.make()
            pid = bundle.execute(files)
        except OSError as problem:
            bundle.remove()
            reason = f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
            status = wire.NO_NETWORK if isinstance(problem, NetworkFailed) else -1
            exit_message = {"ended": request["key"], "status": status, "why": reason, "started": False}
            wire.send(self._line, exit_message)
            return
        self._runs[request["key"]] = _Run(bundle, pid, request["watched_memory"])

    def _check_runs(self) -> None:
        now = time.monotonic()
        watch = now - self._checked_at >= _CHECK_INTERVAL
        for run in self._runs.values():
            if run.killing:
                self._kill(run)
            elif watch and run.most_memory and resident(run.bundle.first_process()) > run.most_memory:
                run.why = "memory"
                self._kill(run)
        if watch:
            self._checked_at = now

    def _kill(self, run: _Run) -> None:
        """End a container by ending its first process; the engine, which only waits for it, then ends too."""
        first = run.bundle.first_process()
        run.killing = not first
        if first:
            _signal(first, signal.SIGKILL)

    def _reap(self) -> None:
        """Take note of processes that ended; as the first process we get all orphans too."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for key, run in list(self._runs.items()):
                if run.pid == pid:
                    self._report_exit(key, run, os.waitstatus_to_exitcode(status))
                elif run.bundle.network is not None and run.bundle.network.pasta == pid:
                    run.why = "network"
                    self._kill(run)

    def _report_exit(self, key: str, run: _Run, status: int) -> None:
        del self._runs[key]
        first = run.bundle.first_process()
        started = bool(first)
        if first and status < 0:
            _signal(first, signal.SIGKILL)  # the engine was ended before its container
        run.bundle.remove()
        wire.send(self._line, {"ended": key, "status": status, "why": run.why, "started": started})


def _signal(pid: int, number: int) -> None:
    if not pid:
        return
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(first: int) -> int:
    """Bytes that the processes in the namespace of a container's first process hold for themselves."""
    namespace = _namespace(first)
    if not namespace:
        return 0
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return sum(_own(pid) for pid in pids if _namespace(pid) == namespace)


def _namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def _own(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            fields = file.read().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE if len(fields) > 2 else 0
