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
from threading import get_ident
from typing import ParamSpec, TypeVar

from crossply.apiserver.fair_turns import FairTurns
from crossply.apiserver.flow_control import current_flow
from crossply.schema.cel_program import WouldBlock, without_blocking

HEAVY_BYTES = 64 << 10
"""From how many bytes of JSON or YAML on work is done in the thread. Less takes some milliseconds at most."""

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
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, _giving_way, work)
        finally:
            self._turns.release()

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


def _giving_way(work: Callable[[], _T]) -> _T:
    """Do work that lets the event loop have its turn often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        return work()
    finally:
        sys.setswitchinterval(interval)
