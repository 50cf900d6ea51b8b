"""The event loop of `async def` functions: it runs them one after the other, as their authors expect.

The loop has a thread of its own, and callers wait for it. A coroutine that awaits nothing cannot be
interrupted, so it runs in the thread of its caller, which saves the switch to the loop and back.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Coroutine
from types import CodeType
from typing import TYPE_CHECKING, Any

from crossply.functions.time_limit import TimeLimitReached

if TYPE_CHECKING:
    import asyncio

Work = Callable[[], Coroutine[Any, Any, Any]]

_IS_COROUTINE = 0x80
_TICK = 0.5
_STUCK_TIMEOUT = 1.0
_NO_LOOP = "no running event loop"


class CoroutineRunner:
    """Runs the coroutines of one function."""

    def __init__(self, code: CodeType | None) -> None:
        self._turn = threading.Lock()
        self._inline = code is not None and _awaits_nothing(code)

    def run(self, work: Work) -> Any:
        """Run a coroutine to completion."""
        if not self._inline:
            return _shared.complete(work())
        try:
            with self._turn:
                work().send(None)
        except StopIteration as end:
            return end.value
        except RuntimeError as problem:
            if str(problem) != _NO_LOOP:
                raise
        # It awaits nothing itself, but something that it calls needs a running loop.
        self._inline = False
        return _shared.complete(work())


def _awaits_nothing(code: CodeType) -> bool:
    from dis import get_instructions

    if not code.co_flags & _IS_COROUTINE:
        return False
    return all(instruction.opname != "GET_AWAITABLE" for instruction in get_instructions(code))


class _Shared:
    """The loop of this process, started on first use."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def complete(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the loop and wait for its result; an interrupt of the wait cancels it."""
        import asyncio
        from concurrent.futures import wait

        loop = self._started()
        running = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            while True:
                # Short waits: Python cannot interrupt a long one.
                wait((running,), _TICK)
                if running.done():
                    return running.result()
        except (TimeLimitReached, KeyboardInterrupt):
            running.cancel()
            self._abandon_if_stuck(loop)
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                import asyncio

                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), daemon=True, name="functions"
                )
                self._thread.start()
            return self._loop

    def _abandon_if_stuck(self, loop: asyncio.AbstractEventLoop) -> None:
        """Abandon a loop whose thread is blocked, and raise TimeLimitReached in that thread."""
        alive = threading.Event()
        loop.call_soon_threadsafe(alive.set)
        if alive.wait(_STUCK_TIMEOUT):
            return
        with self._starting:
            if self._loop is loop and self._thread is not None:
                thread = ctypes.c_ulong(self._thread.ident or 0)
                reached = ctypes.py_object(TimeLimitReached)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, reached)
                self._loop = self._thread = None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    with contextlib.suppress(TimeLimitReached):
        loop.run_forever()


_shared = _Shared()
