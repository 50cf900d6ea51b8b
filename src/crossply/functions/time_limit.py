"""A limit on how long a call may keep its thread.

A served function runs in a worker thread, which Python cannot end from outside; but it can be made to raise.
One watcher looks at the running calls twice a second and raises `TimeLimitReached`, once, in each that is
overdue. It reaches any Python code; a single long call into C ends first.
"""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Callable
from typing import TypeVar

_TICK = 0.5

Result = TypeVar("Result")


class TimeLimitReached(BaseException):
    """Raised inside a call that took too long. Not an Exception: a function must not catch it by accident."""


class _Call:
    """One call that is running."""

    __slots__ = ("deadline", "interrupted", "thread")

    def __init__(self, seconds: float) -> None:
        self.thread = ctypes.c_ulong(threading.get_ident())
        self.deadline = time.monotonic() + seconds
        self.interrupted = False


class TimeLimit:
    """Watches the calls of one server."""

    def __init__(self) -> None:
        self._running: set[_Call] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name="time-limit").start()

    def run(self, seconds: float, work: Callable[[], Result]) -> Result:
        """Do the work for at most so many seconds, else raise TimeLimitReached."""
        call = _Call(seconds)
        # The interruption may arrive late, in the middle of the release; there is only one, so that the
        # second release cannot be disturbed. After it nothing can arrive in code that does not expect it.
        try:
            try:
                self._running.add(call)
                return work()
            finally:
                self._release(call)
        except TimeLimitReached:
            self._release(call)
            raise

    def running(self) -> int:
        """How many calls are running."""
        return len(self._running)

    def close(self) -> None:
        """Interrupt what is still running, and stop watching."""
        self._closed.set()
        self._interrupt(math.inf)

    def _release(self, call: _Call) -> None:
        with self._lock:
            self._running.discard(call)
        if call.interrupted:
            # It may still be on its way, and arrives wherever code goes back: let it arrive here. It could be
            # taken back, but then Python 3.11 checks for it without end, and stalls while it is traced.
            for _ in range(2):
                pass

    def _watch(self) -> None:
        while not self._closed.wait(_TICK):
            self._interrupt(time.monotonic())

    def _interrupt(self, until: float) -> None:
        with self._lock:
            for call in self._running.copy():
                if call.deadline <= until and not call.interrupted:
                    call.interrupted = True
                    reached = ctypes.py_object(TimeLimitReached)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(call.thread, reached)
