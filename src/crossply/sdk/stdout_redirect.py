"""Redirection of what functions print to stderr: stdout is for the output of the command."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_lock = threading.Lock()
_running = 0
_stdout: TextIO | None = None


@contextmanager
def redirect_stdout_to_stderr() -> Iterator[None]:
    """Replace `sys.stdout` by `sys.stderr` in all threads, until the last thread leaves the context.

    Code that writes the output of a command must hold its stream, as `Invocation.stdout` does.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _running, _stdout
    with _lock:
        if not _running:
            _stdout, sys.stdout = sys.stdout, sys.stderr
        _running += 1


def _leave() -> None:
    global _running, _stdout
    with _lock:
        _running -= 1
        if not _running and _stdout is not None:
            sys.stdout, _stdout = _stdout, None
