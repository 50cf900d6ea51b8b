"""One function that is called: its runner, and the threads that wait for it.

A built-in function that is pure and takes microseconds runs right here, in the event loop. A call that turns
out to be large is given up, and made again in a thread. Everything else is called beside the loop, each
function by threads of its own, so that a slow one holds up only the composite resources that wait for it.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from crossply.compose.messages import Request, Response
from crossply.control.calls.function_calls import FunctionMeter
from crossply.control.calls.reuse import Answer
from crossply.functions.in_process import InProcess
from crossply.functions.reply_limits import TooMuchAtOnce
from crossply.functions.runner import Runner

AT_ONCE = 32
"""How many calls one function gets at the same time, unless somebody says otherwise."""

COMPUTING_AT_ONCE = 4
"""How many calls a built-in function gets at the same time that may compute for seconds in this process."""

LARGE_AT_ONCE = 2
"""How many large calls of a quick function run at the same time: they compete with the event loop."""


Ready = Callable[[float], bool]
"""Whether a function accepts calls within so many seconds."""


class Bound:
    """One function and how it is called."""

    def __init__(
        self,
        key: str,
        runner: Runner,
        meter: FunctionMeter,
        pure: bool,
        quick: bool,
        kept_as: str = "",
        at_once: int = AT_ONCE,
        ready: Ready | None = None,
    ) -> None:
        """`ready` tells whether something accepts calls; None where calling it starts it."""
        self.key = key
        """Answers of functions that have the same key are interchangeable."""
        self.kept_as = kept_as
        """What its answers are kept under on disk; empty where they are not: it may change unnoticed."""
        self.meter = meter
        self.pure = pure
        """Whether the same question always gets the same answer."""
        self._runner = runner
        self._quick = runner if quick and isinstance(runner, InProcess) else None
        self.at_once = LARGE_AT_ONCE if self._quick else at_once
        self._threads = ThreadPoolExecutor(self.at_once, thread_name_prefix="function")
        self._ready = ready
        self._readiness: asyncio.Future[bool] | None = None
        """A wait for a connection, shared by all calls that need to know."""

    async def is_ready(self, seconds: float) -> bool:
        """Whether the function accepts calls within so many seconds."""
        if self._ready is None:
            return True
        if self._readiness is None or self._readiness.done():
            loop = asyncio.get_running_loop()
            self._readiness = loop.run_in_executor(self._threads, self._ready, seconds)
        return await asyncio.shield(self._readiness)

    async def call(self, step: str, request: Request, seconds: float) -> Answer:
        """Ask, and wait for the answer."""
        with self.meter.calling(step) as call:
            return Answer(call.answered(await self._run(request, seconds)))

    async def _run(self, request: Request, seconds: float) -> Response:
        if self._quick is not None:
            try:
                return self._quick.call_in_event_loop(request)
            except TooMuchAtOnce:
                pass  # the function is pure: nothing happened yet
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        return await loop.run_in_executor(self._threads, context.run, self._runner, request, seconds)

    def close(self) -> None:
        """Begin no more calls; those under way end by themselves."""
        if self._quick is not None:
            self._quick.close()
        else:
            self._threads.submit(self._runner.close)
        self._threads.shutdown(wait=False)
