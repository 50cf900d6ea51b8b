"""What the launcher does all day: it starts containers, and tells when they ended."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from typing import Any

from crossply.containers.launcher import wire
from crossply.containers.launcher.bundle import Bundle
from crossply.containers.launcher.memory import resident

_LOOK = 0.1
"""Seconds between looks at the memory of containers that no control group bounds."""


class _Run:
    """One container and the process of the engine that waits for it."""

    def __init__(self, bundle: Bundle, pid: int, most_memory: int) -> None:
        self.bundle, self.pid, self.most_memory = bundle, pid, most_memory
        self.why = ""


class Serving:
    """Serves one line until its other end is closed."""

    def __init__(self, line: socket.socket, place: str) -> None:
        self._line = line
        self._place = place
        self._runs: dict[str, _Run] = {}
        self._wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Serve."""
        look = 0.0
        while True:
            watched = [run for run in self._runs.values() if run.most_memory]
            line, wake = self._line.fileno(), self._wake
            ready, _, _ = select.select([line, wake], [], [], _LOOK if watched else None)
            if wake in ready:
                os.read(wake, 4096)
                self._reap()
            if line in ready and not self._obey():
                return
            if watched and time.monotonic() - look >= _LOOK:
                look = time.monotonic()
                self._look(watched)

    def _obey(self) -> bool:
        message, files = wire.receive(self._line)
        if message is None:
            return False
        try:
            if "start" in message:
                self._start(message["start"], files)
            elif "kill" in message:
                self._kill(message["kill"], "")
        finally:
            for file in files:
                os.close(file)
        return True

    def _start(self, wanted: dict[str, Any], files: list[int]) -> None:
        bundle = Bundle(self._place, wanted)
        try:
            bundle.make()
            pid = bundle.execute(files)
        except OSError as problem:
            bundle.remove()
            story = f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem)
            wire.send(self._line, {"ended": wanted["key"], "status": -1, "why": story, "started": False})
            return
        self._runs[wanted["key"]] = _Run(bundle, pid, wanted["watched_memory"])

    def _kill(self, key: str, why: str) -> None:
        run = self._runs.get(key)
        if run is None:
            return
        run.why = run.why or why
        for pid in (run.bundle.first_process(), run.pid):
            # The engine only waits; without the container's first process it ends by itself.
            if pid:
                _signal(pid, signal.SIGKILL)
                return

    def _look(self, watched: list[_Run]) -> None:
        for run in watched:
            first = run.bundle.first_process()
            if first and resident(first) > run.most_memory:
                run.why = "memory"
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
                    self._ended(key, run, os.waitstatus_to_exitcode(status))

    def _ended(self, key: str, run: _Run, status: int) -> None:
        del self._runs[key]
        first = run.bundle.first_process()
        if first and status < 0:
            _signal(first, signal.SIGKILL)  # the engine was ended before its container
        started = bool(first)
        run.bundle.remove()
        wire.send(self._line, {"ended": key, "status": status, "why": run.why, "started": started})


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
