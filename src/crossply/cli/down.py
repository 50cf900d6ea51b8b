"""`crossply down`: stop the control plane that `crossply up` started."""

from __future__ import annotations

import os
import signal
import time

from crossply.cli.spec import Command, Flag, Invocation
from crossply.cli.up import DEFAULT_DATA, PID_FILE, StartFailed

_STOP_SECONDS = 40.0


def run(invocation: Invocation) -> int:
    """Ask it to end, and wait until it has."""
    pid_file = os.path.join(invocation["data"], PID_FILE)
    try:
        with open(pid_file) as file:
            pid = int(file.read())
        os.kill(pid, signal.SIGTERM)
    except (OSError, ValueError):
        invocation.stdout.write("not running\n")
        return 0
    end = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            invocation.stdout.write("stopped\n")
            return 0
        time.sleep(0.05)
    raise StartFailed(f"process {pid} does not end", hint=f"end it with: kill -9 {pid}")


COMMAND = Command(
    name="down",
    summary="Stop the control plane on this machine.",
    description="Stops what `crossply up` started on the same data directory; nothing that is kept is lost.",
    examples=("crossply down", "crossply down --data ./state"),
    run=run,
    flags=(
        Flag(
            "data",
            "The data directory of the control plane.",
            kind="path",
            default=DEFAULT_DATA,
            placeholder="DIR",
        ),
    ),
)
