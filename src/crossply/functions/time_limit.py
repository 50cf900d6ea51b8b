"""A limit on how long a call may keep its thread.

A served function runs in a worker thread, which Python cannot end from outside; but it can be made to raise.
One watcher looks at the running calls twice a second and raises `TimeLimitReached` in those that are overdue,
again and again until they give up. It reaches any Python code; a single long call into C ends first.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_TICK = 0.5


class TimeLimitReached(BaseException):
    """Raised inside a call that took too long. Not an Exception: a function must not catch it by accident."""


class TimeLimit:
    """Watches the calls of one server."""

    def __init__(self) -> None:
        self._deadlines: dict[int, float] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name="time-limit").start()

    @contextmanager
    def of(self, seconds: float) -> Iterator[None]:
        """Run the body for at most so many seconds."""
        thread = threading.get_ident()
        self._deadlines[thread] = time.monotonic() + seconds
        try:
            yield
        finally:
            self._release(thread)

    def close(self) -> None:
        """Stop watching."""
        self._closed.set()

    def _release(self, thread: int) -> None:
        # Under the lock nothing new is raised; what was raised but has not arrived yet is taken back.
        with self._lock:
            overdue = self._deadlines.pop(thread) <= time.monotonic()
            if overdue:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)

    def _watch(self) -> None:
        while not self._closed.wait(_TICK):
            with self._lock:
                now = time.monotonic()
                for thread, deadline in list(self._deadlines.items()):
                    if deadline <= now:
                        reached = ctypes.py_object(TimeLimitReached)
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), reached)
