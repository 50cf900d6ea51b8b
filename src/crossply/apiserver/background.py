"""Work that takes long, done in a thread so that it does not hold up the requests of others.

That is work on large objects, and work that waits for the process of expensive expressions. Everything else
runs in the event loop, because a thread costs a small request more than its work. There is one thread only:
threads of Python take turns, so with more of them the event loop would get fewer turns. Users take turns
with it: many large objects of one user do not keep those of another waiting.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, get_ident
from typing import ParamSpec, TypeVar

from crossply.apiserver.fair_turns import FairTurns
from crossply.apiserver.http.flow_control import current_flow
from crossply.schema.cel_program import WouldBlock, may_block, without_blocking
from crossply.values.interruption import interruptible

HEAVY_BYTES = 64 << 10
"""From which weight on work is done in the thread. The unit is a byte of ordinary JSON (see `weights`)."""

_TURN_SECONDS = 0.001
_P = ParamSpec("_P")
_T = TypeVar("_T")


class Background:
    """The thread, started when it is first needed."""

    __slots__ = ("_executor", "_turns", "pieces")

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._turns = FairTurns()
        self.pieces = 0
        """How many pieces of work were handed to the thread."""

    async def run(self, weight: int, work: Callable[[], _T]) -> _T:
        """Do work on so many bytes. It must not touch what the event loop changes, and may be begun twice."""
        if weight < HEAVY_BYTES:
            try:
                with without_blocking():
                    return work()
            except WouldBlock:
                pass  # and begin again, in the thread
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, "crossply-background")
        self.pieces += 1
        await self._turns.acquire(current_flow.get())
        abandoned = Event()
        future = self._executor.submit(_giving_way, work, abandoned.is_set)
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: _call_in(loop, self._turns.release))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            abandoned.set()
            raise

    def close(self) -> None:
        """Drop the work that has not begun."""
        self._turns.cancel_all()
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)


def in_event_loop(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """The function for work that may be done in the thread: it is always called in the event loop."""
    loop, owner = asyncio.get_running_loop(), get_ident()

    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        if get_ident() == owner:
            return function(*args, **kwargs)

        async def called() -> _T:
            return function(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(called(), loop).result()

    return call


def leave_event_loop(weight: int) -> None:
    """Have `Background.run` begin again in the thread when its work turns out to be heavy."""
    if weight >= HEAVY_BYTES and not may_block():
        raise WouldBlock


def _call_in(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody waits for a turn any more
        loop.call_soon_threadsafe(function)


def _giving_way(work: Callable[[], _T], is_abandoned: Callable[[], bool]) -> _T:
    """Do work that lets the event loop have its turn often, and ends early when nobody waits for it."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        with interruptible(is_abandoned):
            return work()
    finally:
        sys.setswitchinterval(interval)
