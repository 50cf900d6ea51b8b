"""A provider on the kit as a process of its own, and its API server behind a proxy that counts writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT


class ProviderProcess:
    """`python -P -m crossply.provider DIR`, started as often as a test wants."""

    def __init__(self, name: str, kubeconfig: str, log: Path) -> None:
        self.command = [sys.executable, "-P", "-m", "crossply.provider", str(ROOT / "providers" / name)]
        self.command += ["--kubeconfig", kubeconfig, "--port", "0"]
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(self.command, stdout=log, stderr=log, cwd=ROOT)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self, signal_number: int = signal.SIGTERM) -> None:
        if self._process is not None:
            if self._process.poll() is None:
                os.kill(self._process.pid, signal_number)
            self._process.wait(60)
            self._process = None

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def memory_kib(self) -> int:
        """What of its memory no other process shares, roughly: the resident set."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])


def plain_kubeconfig(path: Path, url: str) -> str:
    """A kubeconfig for an API server without authentication, such as a proxy with its own credentials."""
    entry = {
        "current-context": "proxy",
        "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
        "clusters": [{"name": "proxy", "cluster": {"server": url}}],
        "users": [{"name": "proxy", "user": {}}],
    }
    path.write_text(json.dumps(entry))
    return str(path)
