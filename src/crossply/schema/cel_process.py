"""Evaluating expressions in a process that may only have so much memory and time.

One process serves all. It is started when the first expression needs it, and again after one was too much for
it.
"""

from __future__ import annotations

import atexit
import pickle
import select
import subprocess
import sys
from collections.abc import Mapping
from threading import Lock
from time import monotonic
from typing import Any

from crossply.schema.cel_error_translation import OUT_OF_BUDGET
from crossply.schema.cel_worker import LONGEST_REPLY, READY, read_value

SECONDS = 2.0
"""How long an expression may take."""

START_SECONDS = 30.0
"""How long the process may take to start, on a busy machine."""


class _WorkerExited(Exception):
    """The process ended, or did not answer in time."""


class _Process:
    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def evaluate(self, text: str, data: Mapping[str, Any]) -> tuple[Any, str]:
        """The plain value of an expression, or why there is none."""
        question = pickle.dumps((text, dict(data)))
        with self._lock:
            try:
                process = self._started()
                self._send(process, question)
                return read_value(self._receive(process, SECONDS))
            except (_WorkerExited, OSError):
                self.close()
                return None, OUT_OF_BUDGET

    def close(self) -> None:
        """End the process; the next expression starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "crossply.schema.cel_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            if self._receive(self._process, START_SECONDS) != READY:
                raise _WorkerExited
        return self._process

    def _send(self, process: subprocess.Popen[bytes], question: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(len(question).to_bytes(4, "big") + question)
        process.stdin.flush()

    def _receive(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        deadline = monotonic() + seconds
        length = int.from_bytes(self._read(process, 4, deadline), "big")
        if length > LONGEST_REPLY:
            raise _WorkerExited
        return self._read(process, length, deadline)

    def _read(self, process: subprocess.Popen[bytes], length: int, deadline: float) -> bytes:
        assert process.stdout is not None
        data = b""
        while len(data) < length:
            ready, _, _ = select.select([process.stdout], [], [], max(deadline - monotonic(), 0))
            chunk = process.stdout.read1(length - len(data)) if ready else b""  # type: ignore[attr-defined]
            if not chunk:
                raise _WorkerExited
            data += chunk
        return data


_process = _Process()
atexit.register(_process.close)
evaluate_confined = _process.evaluate
