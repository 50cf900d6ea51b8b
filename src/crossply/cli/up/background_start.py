"""`crossply up --detach`: run the same command line in the background and wait until it is ready."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence

from crossply.cli.framework.command import Invocation
from crossply.cli.framework.progress import progress
from crossply.cli.local_control_plane.data_directory import LOG_FILE, open_data_directory
from crossply.cli.local_control_plane.failures import StartFailed
from crossply.cli.local_control_plane.lock import is_locked, running

_READY = b"ready\n"
_START_SECONDS = 300.0
"""A process that ends before is noticed at once; one that lives may be slow on a busy machine."""
_LAST_BYTES = 4096
_HINT = "crossply: try: "
_WARNING = "crossply: warning: "
_APPLIED = "applied "
"""Begins the line that says how many objects of the files were applied."""


def detached_words(words: Sequence[str], descriptor: int) -> list[str]:
    """The same command line for the process in the background, which reports readiness by a descriptor.

    The words are passed on as they were typed, so that no flag can be forgotten; of a flag that is given
    twice the last value counts.
    """
    return [*words, "--detach=false", f"--ready-fd={descriptor}"]


def start_detached(invocation: Invocation) -> str:
    """Run the command line in the background, wait until it is ready, and return a message."""
    data = open_data_directory(invocation)
    if is_locked(data):
        owner = running(data)
        if owner is not None:
            return f"already running as process {owner.pid}, with the flags that it was started with\n"
    reading, writing = os.pipe()
    log = os.path.join(data, LOG_FILE)
    # -P: modules of the working directory do not stand in for ours.
    command = [sys.executable, "-P", "-m", "crossply.cli", *detached_words(invocation.words, writing)]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with open(os.open(log, flags, 0o600), "wb") as output, open(reading, "rb", buffering=0) as ready:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(writing,),
            start_new_session=True,
        )
        os.close(writing)
        try:
            with progress(invocation, "starting the control plane"):
                _wait_until_ready(process, ready.fileno(), log)
        except KeyboardInterrupt:
            process.terminate()
            raise
    invocation.stderr.write("".join(line for line in _lines(log) if line.startswith(_WARNING)))
    return "".join(line for line in _lines(log) if line.startswith(_APPLIED))


def report_ready(invocation: Invocation) -> None:
    """Notify the process that waits for readiness, if it still runs."""
    descriptor = invocation["ready-fd"]
    if descriptor is not None:
        with contextlib.suppress(BrokenPipeError):
            os.write(descriptor, _READY)
        os.close(descriptor)


def keep_from_children(invocation: Invocation) -> None:
    """Who waits for us to be ready or to end is not to wait for what we start."""
    if invocation["ready-fd"] is not None:
        os.set_inheritable(invocation["ready-fd"], False)


def _wait_until_ready(process: subprocess.Popen[bytes], ready: int, log: str) -> None:
    """Wait for the word; the end of the pipe without it is the end of the process."""
    end = time.monotonic() + _START_SECONDS
    while select.select([ready], [], [], max(end - time.monotonic(), 0))[0]:
        if os.read(ready, len(_READY)) == _READY:
            return
        message = f"the control plane ended with exit code {process.wait()}{_last_line(log)}"
        raise StartFailed(message, place=log, hint=_hint(log))
    raise StartFailed(
        f"the control plane is not ready after {_START_SECONDS:.0f} s",
        place=log,
        hint="it is still starting: see the end of the log; crossply down stops it",
    )


def _last_line(log: str) -> str:
    lines = "".join(_lines(log)).strip().splitlines()
    return f": {lines[-1].removeprefix('crossply: error: ')}" if lines else ""


def _hint(log: str) -> str:
    """What the process advised before it ended; empty if it did not."""
    hints = [line.removeprefix(_HINT).strip() for line in _lines(log) if line.startswith(_HINT)]
    return hints[-1] if hints else ""


def _lines(log: str) -> list[str]:
    """The end of the log."""
    with open(log, "rb") as file:
        file.seek(max(os.path.getsize(log) - _LAST_BYTES, 0))
        return file.read().decode("utf-8", "replace").splitlines(keepends=True)
