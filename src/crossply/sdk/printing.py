"""What a function prints goes to stderr: stdout is for what the command answers."""

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
def printing_to_stderr() -> Iterator[None]:
    """Have `sys.stdout` be `sys.stderr`, in all threads, until the last one that is inside leaves.

    What writes answers must hold the stream that it writes to, as `Invocation.stdout` does.
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
