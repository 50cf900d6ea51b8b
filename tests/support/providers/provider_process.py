"""A provider as a process that may be killed at any time, and is restarted."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence


class ProviderProcess:
    """Started again whenever it ends, as a control plane would."""

    def __init__(self, command: Sequence[str], kubeconfig: pathlib.Path, log: pathlib.Path) -> None:
        self._command = command
        self._kubeconfig = kubeconfig
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def kill(self) -> None:
        """End it at once, without a chance to finish anything."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(30)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[ProviderProcess]:
        task = asyncio.create_task(self._supervise())
        try:
            yield self
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            self.kill()

    async def _supervise(self) -> None:
        environment = {**os.environ, "KUBECONFIG": str(self._kubeconfig)}
        environment.pop("KUBERNETES_SERVICE_HOST", None)
        while True:
            with open(self._log, "ab") as log:
                self._process = subprocess.Popen(self._command, stdout=log, stderr=log, env=environment)
            self.starts += 1
            while self._process.poll() is None:
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.2)
