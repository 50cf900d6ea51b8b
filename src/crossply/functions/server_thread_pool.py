"""The threads that a server answers calls in: few while calls are quick, more while calls wait.

Python runs one thread at a time, and threads that all want to run cost more than they gain: with two of them
a server answers half as many calls again as with thirty. But calls may also wait, for a network or a lock,
and must not hold up the others. So more threads come where something waits and nothing was begun for a while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
from typing import Any

_FEW = 2
_TIMEOUT = 0.01
"""Seconds in which nothing was begun, after which more threads come."""

_IDLE = 5.0
"""Seconds without work, after which a thread that came later goes."""


class WorkerThreads(Executor):
    """Does work in few threads where they are enough, and in many where they are not."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: SimpleQueue[_Work | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._unfinished = 0
        self._started = 0
        """Only whether it changes matters."""
        self._crowded = threading.Event()
        self._closed = False
        self._hire(_FEW)
        threading.Thread(target=self._watch, daemon=True, name="workers").start()

    def submit(self, call: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Have something called soon."""
        if self._closed:
            raise RuntimeError("cannot take work after the end")
        work = _Work(call, args, named)
        with self._lock:
            self._unfinished += 1
            crowded = self._unfinished > self._threads
        self._waiting.put(work)
        if crowded and not self._crowded.is_set():
            self._crowded.set()
        return work.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more work; the threads end after the queued work, without waiting for them."""
        self._closed = True
        self._crowded.set()
        self._waiting.put(None)

    def threads(self) -> int:
        """How many there are."""
        return self._threads

    def _hire(self, number: int) -> None:
        with self._lock:
            number = min(number, self._most - self._threads)
            self._threads += number
        for _ in range(number):
            threading.Thread(target=self._work, daemon=True, name="worker").start()

    def _watch(self) -> None:
        while not self._closed:
            self._crowded.wait()
            started = self._started
            time.sleep(_TIMEOUT)
            self._crowded.clear()
            waiting = self._waiting.qsize()
            if waiting:
                self._crowded.set()
                if self._started == started:
                    self._hire(waiting)

    def _work(self) -> None:
        while True:
            try:
                work = self._waiting.get(timeout=_IDLE)
            except Empty:
                if self._leave():
                    return
                continue
            if work is None:
                self._waiting.put(None)  # for the next one
                return
            self._started += 1
            work.run()
            with self._lock:
                self._unfinished -= 1

    def _leave(self) -> bool:
        with self._lock:
            leaves = self._threads > _FEW
            self._threads -= leaves
        return leaves


class _Work:
    """A call to make, and what comes of it."""

    __slots__ = ("_args", "_call", "_named", "future")

    def __init__(self, call: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._call = call
        self._args = args
        self._named = named
        self.future: Future[Any] = Future()

    def run(self) -> None:
        """Make the call."""
        try:
            self.future.set_result(self._call(*self._args, **self._named))
        except BaseException as problem:  # noqa: BLE001 - the future raises it
            self.future.set_exception(problem)
