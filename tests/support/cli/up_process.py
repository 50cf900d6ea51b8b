"""Control planes that tests start and stop as users do."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from crossply.cli.local_control_plane.lock import is_locked, running
from crossply.cli.local_control_plane.process_identity import Process, start_time
from crossply.values.yaml import load
from tests.support.patience import PATIENCE
from tests.support.running_processes import processes_with

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")


def crossply(*words: str, cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [CROSSPLY, *words], cwd=cwd, capture_output=True, text=True, timeout=3 * PATIENCE, check=False
    )


class Plane:
    """A control plane in the background, by its data directory."""

    def __init__(self, data: pathlib.Path) -> None:
        self.data = data

    def up(self, *flags: str, cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
        """Start it, and wait until it is ready."""
        return crossply("up", "--detach", "--data", str(self.data), *flags, cwd=cwd)

    def down(self) -> str:
        """Stop it; return the output of the command."""
        done = crossply("down", "--data", str(self.data))
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def process(self) -> Process:
        """The process of `crossply up`."""
        pid = running(str(self.data))
        assert pid is not None
        return pid

    @property
    def api_server(self) -> Process:
        """Its API server."""
        pid = api_servers(self.process)[0]
        return Process(pid, start_time(pid))

    @property
    def server(self) -> str:
        """The address in the kubeconfig."""
        url = load((self.data / "kubeconfig").read_bytes())["clusters"][0]["cluster"]["server"]
        return str(url)

    @property
    def log(self) -> str:
        return (self.data / "up.log").read_text()


def api_servers(process: Process) -> list[int]:
    """The numbers of the API servers that a process of `crossply up` started."""
    return processes_with("crossply.cli apiserver", process.pid)


@contextlib.contextmanager
def plane_at(data: pathlib.Path) -> Iterator[Plane]:
    """A data directory whose control plane is stopped at the end."""
    plane = Plane(data)
    try:
        yield plane
    finally:
        if data.is_dir() and is_locked(str(data)):
            plane.down()


def eventually(check: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.05)


def kill(process: Process) -> None:
    """Kill a process."""
    os.kill(process.pid, 9)
