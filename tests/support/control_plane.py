"""Control planes as processes, started the way a user starts them."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
import sys
from collections.abc import Iterator

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")


FLAGS = ("--function-timeout", "5s", "--enable-operations")
"""So that a hanging function is reported soon."""


@contextlib.contextmanager
def running(directory: pathlib.Path, *command: str) -> Iterator[subprocess.Popen[str]]:
    """Run one of our commands, from when it is ready until the end of the block."""
    log = directory / "control-plane.err"
    with open(log, "w") as errors:
        process = subprocess.Popen([CROSSPLY, *command], stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "control plane ready\n", log.read_text()
        yield process
    finally:
        process.terminate()
        process.stdout.close()
        process.wait(30)
