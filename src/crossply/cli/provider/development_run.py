"""A provider under development: a child process that is replaced when a file of the provider is saved.

While the code cannot be loaded, the process with the last working code continues to run. Its CRDs are
installed before, and objects of them can be written once that is done.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from crossply.errors import CrossplyError
from crossply.functions.process_lifeline import ChildProcess
from crossply.functions.source_watcher import SourceFiles
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.kube.core_kinds import CRD
from crossply.values import Object
from crossply.values.backoff import pause_after
from crossply.values.yaml import read_documents

PAUSE = 0.2
"""Seconds between two checks of the files and of the process."""
GRACE = 10.0
"""Seconds that the provider has to finish its reconciles."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0

_MANAGER = "crossply-provider"
_PATIENCE = 30.0
"""Seconds until a CRD must be established."""


class DevelopmentRun:
    """One provider, its process and its files."""

    def __init__(
        self,
        directory: str,
        packages: tuple[str, ...],
        prepare: Callable[[], None],
        *,
        environ: dict[str, str],
        say: Callable[[str], None],
        write: Callable[[str], object],
    ) -> None:
        self._directory = directory
        self._packages = [os.path.join(directory, package) for package in packages]
        self._prepare = prepare
        """Called before each start with new code; raises CrossplyError where that cannot run."""
        self._environ = environ
        self._say = say
        self._write = write
        self._process: subprocess.Popen[str] | None = None
        self._lifeline = ChildProcess()
        self._ends = 0
        """How often the process has ended by itself since the last change."""
        self._restart_at = 0.0

    def run(self) -> None:
        """Run until a KeyboardInterrupt."""
        sources = self._watched()
        self._replace()
        try:
            while True:
                time.sleep(PAUSE)
                changed = next(filter(None, [package.changed() for package in sources]), "")
                if changed:
                    self._say(f"{os.path.relpath(changed, self._directory)} changed")
                    self._ends = 0
                    sources = self._watched()
                    self._replace()
                else:
                    self._revive()
        finally:
            self._stop()

    def _watched(self) -> list[SourceFiles]:
        return [SourceFiles(["provider", package], time.monotonic) for package in self._packages]

    def _replace(self) -> None:
        """Start the current code in place of the running process, if it can be loaded."""
        try:
            self._prepare()
        except CrossplyError as problem:
            place = f"{problem.place}: " if problem.place else ""
            self._say(f"{place}{problem}")
            if problem.hint:
                self._say(f"try: {problem.hint}")
            running = self._process is not None and self._process.poll() is None
            self._say("the previous code continues to run" if running else "it starts when you save a file")
            return
        self._stop()
        self._start()

    def _start(self) -> None:
        # -P: modules of the working directory do not stand in for those of Crossply and its libraries.
        words = [sys.executable, "-P", "-u", "-m", "crossply.provider", self._directory]
        self._lifeline = ChildProcess()
        self._process = self._lifeline.start(words, self._environ)
        threading.Thread(target=self._forward, args=(self._process,), daemon=True).start()
        self._say(f"started as process {self._process.pid}; it restarts when you save a file, Ctrl-C ends it")

    def _forward(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            self._write(line)

    def _revive(self) -> None:
        """Start a process again that ended by itself, after a pause that grows."""
        if self._process is None or self._process.poll() is None:
            return
        now = time.monotonic()
        if not self._restart_at:
            self._ends += 1
            pause = pause_after(self._ends, FIRST_PAUSE, LONGEST_PAUSE)
            self._say(f"ended with exit code {self._process.returncode}; starts again in {pause:.0f} s")
            self._restart_at = now + pause
        elif now >= self._restart_at:
            self._stop()
            self._start()

    def _stop(self) -> None:
        self._restart_at = 0.0
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self._say(f"did not end within {GRACE:.0f} s and is killed")
        self._lifeline.cut()
        process.wait()


class CRDsNotInstalled(CrossplyError):
    """The CRDs of a provider could not be installed in the cluster."""

    code = "CP-577"


def read_crds(paths: list[str]) -> list[Object]:
    """The CRDs in files, each of which may have several; blank documents are skipped."""
    crds = []
    for path in paths:
        with open(path, "rb") as file:
            crds += [document.value for document in read_documents(file.read(), path)]
    return crds


async def install_crds(config: ClusterConfig, crds: list[Object]) -> None:
    """Apply CRDs, and wait until they are served."""
    async with Client(config) as client:
        for crd in crds:
            await client.apply(CRD, crd, _MANAGER)
        for crd in crds:
            await _wait_until_established(client, crd["metadata"]["name"])


async def _wait_until_established(client: Client, name: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        crd = await client.get(CRD, name)
        conditions = {
            condition["type"]: condition
            for condition in ((crd or {}).get("status") or {}).get("conditions") or ()
        }
        if conditions.get("Established", {}).get("status") == "True":
            return
        if time.monotonic() > deadline:
            message = (
                conditions.get("NamesAccepted", {}).get("message") or "the API server did not establish it"
            )
            raise CRDsNotInstalled(
                f"CRD {name} is not served: {message}", hint=f"kubectl describe crd {name}"
            )
        await asyncio.sleep(0.1)
