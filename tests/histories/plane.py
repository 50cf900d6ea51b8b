"""A real `crossply up`, started as a user starts it, and started again whenever it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import signal
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
UP, API_SERVER = "controllers", "API server"
_OUR_SIGNALS = (0, -signal.SIGKILL, -signal.SIGTERM)
_PAUSE_BEFORE_START = 0.3
_STOP_SECONDS = 60.0


class Life(NamedTuple):
    """One run of `up`."""

    started: float
    was_ready: bool


class Plane:
    """The processes on one data directory."""

    def __init__(self, data: pathlib.Path, log: pathlib.Path, environment: dict[str, str]) -> None:
        self.data = data
        self.starts = 0
        self.ends: list[str] = []
        """How `up` ended by itself, not by one of our signals."""
        self.may_end: Callable[[Life], bool] = lambda life: False
        """Whether `up` may exit by itself now, for example because its disk is full."""
        self.ready = asyncio.Event()
        self._log = log
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False

    async def run(self) -> None:
        """Start it again and again, until it is stopped."""
        while not self._stopping:
            self.starts += 1
            started = time.monotonic()
            with open(self._log, "ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    *(CROSSPLY, "up", "--data", str(self.data)),
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    env=self._environment,
                    start_new_session=True,
                )
            was_ready = await self._read_output(self._process)
            code = await self._process.wait()
            self.ready.clear()
            if code not in _OUR_SIGNALS and not self.may_end(Life(started, was_ready)):
                phase = "while it ran" if was_ready else "while it started"
                self.ends.append(f"exit code {code} {phase}, after {time.monotonic() - started:.1f} s")
            await asyncio.sleep(_PAUSE_BEFORE_START)

    async def _read_output(self, process: asyncio.subprocess.Process) -> bool:
        """Read its output until it exits; return whether it was ready."""
        assert process.stdout is not None
        async for line in process.stdout:
            if line == b"control plane ready\n":
                self.ready.set()
        return self.ready.is_set()

    async def stop(self) -> None:
        """End it as Ctrl-C does, or by force where that takes too long."""
        self._stopping = True
        self.signal_up(signal.SIGTERM)
        if self._process is not None:
            try:
                await asyncio.wait_for(self._process.wait(), _STOP_SECONDS)
            except TimeoutError:
                self.ends.append(f"it did not stop within {_STOP_SECONDS:.0f} s")
                self.signal_up(signal.SIGKILL)

    def signal_up(self, number: signal.Signals) -> int | None:
        """Send a signal to `up`, if it runs; its process."""
        return send(self.processes().get(UP), number)

    def signal_api(self, number: signal.Signals) -> int | None:
        """Send a signal to its API server, if it runs; its process."""
        return send(self.processes().get(API_SERVER), number)

    def processes(self) -> dict[str, int]:
        """The processes that run now, by what they do."""
        if self._process is None or self._process.returncode is not None:
            return {}
        pid = self._process.pid
        pids = {UP: pid}
        for child in children_of(pid):
            if b"apiserver" in _command(child):
                pids[API_SERVER] = child
        return pids


def children_of(pid: int) -> list[int]:
    """The processes that a process started."""
    with contextlib.suppress(OSError):
        threads = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    return []


def resident_mib(pid: int) -> float:
    """The memory of a process; 0 if it is gone."""
    with contextlib.suppress(OSError):
        pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def send(pid: int | None, number: signal.Signals) -> int | None:
    """Send a signal to a process that may be gone."""
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    return pid
