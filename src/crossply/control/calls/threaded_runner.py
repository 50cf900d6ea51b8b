"""Calls a blocking runner in threads.

Each function has threads of its own, so that a slow one delays only the composite resources that wait for it.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from crossply.control.calls.async_runner import Answer, FunctionCall
from crossply.functions.runner import Runner

MAX_CONCURRENT_CALLS = 32
"""The default number of concurrent calls to one function."""

IsReady = Callable[[float], bool]
"""Blocks for at most so many seconds until the function accepts calls; whether it does."""


class ThreadedRunner:
    """Runs at most `max_calls` calls of one function at the same time."""

    def __init__(
        self,
        runner: Runner,
        max_calls: int = MAX_CONCURRENT_CALLS,
        is_ready: IsReady | None = None,
        threads: ThreadPoolExecutor | None = None,
    ) -> None:
        """`is_ready` is None for a function that is started by its first call.

        `threads` are used instead of `max_calls` threads of its own; a runner with such threads is not
        closed.
        """
        self.max_calls = max_calls
        self._runner = runner
        self._threads = threads or ThreadPoolExecutor(max_calls, thread_name_prefix="function")
        self._is_ready = is_ready
        self._readiness: asyncio.Future[bool] | None = None
        """A wait for a connection, shared by all calls that need it."""

    async def __call__(self, call: FunctionCall) -> Answer:
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        run = loop.run_in_executor(self._threads, context.run, self._runner, call.request, call.timeout)
        return Answer(await run)

    async def is_ready(self, seconds: float) -> bool:
        """Whether the function accepts calls within so many seconds."""
        if self._is_ready is None:
            return True
        if self._readiness is None or self._readiness.done():
            loop = asyncio.get_running_loop()
            self._readiness = loop.run_in_executor(self._threads, self._is_ready, seconds)
        return await asyncio.shield(self._readiness)

    def close(self) -> None:
        self._threads.submit(self._runner.close)
        self._threads.shutdown(wait=False)
