"""Runs one shell command in a fresh container: no network unless it is allowed, a read-only root, limits."""

from __future__ import annotations

import os
import threading
import time
from typing import NamedTuple

from crossply.containers.image_store import Store, StoredImage
from crossply.containers.run_to_completion import run_once
from crossply.containers.settings import ISOLATED, MEBIBYTE, OWN, Limits, Settings, store_directory
from crossply.functions.builtin.shell.access import ShellAccess
from crossply.functions.failures import FunctionTimedOut
from crossply.functions.one_shot_image_run import ImageRun, fetch_within
from crossply.functions.reply_limits import current_limits
from crossply.xpkg.keychain import default_keychain
from crossply.xpkg.registry_session import Trust

SECONDS = 20.0
"""How long a command may take."""

MAX_OUTPUT = MEBIBYTE
"""The most bytes that a command may print."""

_PULL_SECONDS = 300.0
_AT_ONCE = 8
_LIMITS = Limits(memory=256 * MEBIBYTE, pids=256)
_containers = threading.BoundedSemaphore(_AT_ONCE)


class Finished(NamedTuple):
    """What a command printed, and how it ended."""

    stdout: str
    stderr: str
    """The end of it, where it is long."""
    status: int
    """The exit status; 128 and the number of the signal where one ended it."""


def run_command(access: ShellAccess, command: str, variables: dict[str, str]) -> Finished:
    """Run a command with `/bin/sh -c`; raises a CrossplyError if that is not possible or takes too long."""
    deadline = current_limits().deadline
    if not _containers.acquire(timeout=min(deadline - time.monotonic(), _PULL_SECONDS)):
        raise FunctionTimedOut(f"{_AT_ONCE} other commands are running, and none has ended in time")
    try:
        image = _image(access.image, deadline)
        settings = Settings(
            limits=_LIMITS,
            network=OWN if access.has_network else ISOLATED,
            hostname="shell",
            command=("/bin/sh", "-c", command),
            environment=tuple(f"{name}={value}" for name, value in variables.items()),
            timeout=min(SECONDS, max(deadline - time.monotonic(), 0.001)),
            largest_output=MAX_OUTPUT,
        )
        finished = run_once(image, b"", settings)
    finally:
        _containers.release()
    return Finished(finished.stdout.decode("utf-8", "replace"), finished.stderr, finished.status)


def _image(name: str, deadline: float) -> StoredImage:
    """The image of the operator, which is pulled if it is not here."""
    from urllib.request import getproxies_environment

    source = ImageRun(name, keychain=default_keychain(os.environ))
    seconds = min(max(deadline - time.monotonic(), 0.001), _PULL_SECONDS)
    store = Store(store_directory(os.environ))
    return fetch_within(seconds, source, store, Trust(proxies=getproxies_environment()))
