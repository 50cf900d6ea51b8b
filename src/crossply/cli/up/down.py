"""`crossply down`: stop the control plane that `crossply up` started."""

from __future__ import annotations

import os
import time

from crossply.cli.framework.command import Command, Invocation
from crossply.cli.local_control_plane.data_directory import LOCK_FILE, check_owner, data_flag

_STOP_SECONDS = 60.0
_PAUSE = 0.05


def run(invocation: Invocation) -> int:
    """Ask it to end, and wait until it and its API server have."""
    from crossply.cli.local_control_plane.lock import is_locked

    data = invocation["data"]
    if not os.path.isdir(data):
        invocation.stdout.write("not running\n")
        return 0
    check_owner(data)
    if not is_locked(data):
        invocation.stdout.write("not running\n")
        return 0
    _stop(data)
    invocation.stdout.write("stopped\n")
    return 0


def _stop(data: str) -> None:
    from crossply.cli.local_control_plane.failures import StopFailed
    from crossply.cli.local_control_plane.lock import is_locked, running
    from crossply.cli.local_control_plane.process_identity import Process

    lock = os.path.join(data, LOCK_FILE)
    end = time.monotonic() + _STOP_SECONDS
    signalled: Process | None = None
    # One that was killed leaves an API server behind, which ends by itself; one that starts is known soon.
    while is_locked(data) or (signalled is not None and signalled.is_alive()):
        process = running(data)
        if process is None:
            _check_record(data)
        if process is not None and process != signalled:
            signalled = process if process.terminate() else None
        if time.monotonic() > end:
            process_name = f"process {signalled.pid}" if signalled is not None else "what runs"
            raise StopFailed(
                f"{process_name} on {data} does not end",
                hint=f"see which processes hold its lock: fuser -v {lock}",
            )
        time.sleep(_PAUSE)


def _check_record(data: str) -> None:
    """Raise if the lock file names a process that runs and does not hold the lock: it is not signalled."""
    from crossply.cli.local_control_plane.failures import StopFailed
    from crossply.cli.local_control_plane.lock import holds, is_locked, recorded

    process = recorded(data)
    if process is None or holds(process, data) or not process.is_alive() or not is_locked(data):
        return
    lock = os.path.join(data, LOCK_FILE)
    raise StopFailed(
        f"{lock} names process {process.pid}, which does not hold the lock: it is not stopped",
        hint=f"see which process holds it, and stop that one with kill PID: fuser -v {lock}",
    )


COMMAND = Command(
    name="down",
    summary="Stop the control plane on this machine.",
    description=(
        "Stops what `crossply up` started on the same data directory, and waits until it and its "
        "API server have ended. The data directory is kept."
    ),
    examples=("crossply down", "crossply down --data ./state"),
    run=run,
    flags=(data_flag("The data directory of the control plane."),),
)
