"""Calls a blocking runner in threads.

Each function has threads of its own, so that a slow one delays only the composite resources that wait for it.
Kinds of composite resources that wait for the same one take turns (`fair_turns`).
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor

from crossply.compose.function_messages import Request, Response
from crossply.control.calls.fair_turns import FairTurns
from crossply.control.calls.runner_protocol import Answer, FunctionCall
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
        turns: FairTurns | None = None,
    ) -> None:
        """`is_ready` is None for a function that is started by its first call.

        `threads` are used instead of `max_calls` threads of its own; a runner with such threads is not
        closed. `turns` has their places then.
        """
        self.max_calls = max_calls
        self._runner = runner
        self._threads = threads or ThreadPoolExecutor(max_calls, thread_name_prefix="function")
        self._turns = turns or FairTurns(max_calls)
        self._is_ready = is_ready
        self._readiness: asyncio.Future[bool] | None = None
        """A wait for a connection, shared by all calls that need it."""

    async def __call__(self, call: FunctionCall) -> Answer:
        context, caller = contextvars.copy_context(), _caller(call.request)
        await self._turns.acquire(caller)
        try:
            run = self._threads.submit(context.run, self._runner, call.request, call.timeout)
        except BaseException:
            self._turns.release(caller)
            raise
        try:
            return Answer(await asyncio.wrap_future(run))
        finally:
            self._release_after(run, caller)

    def _release_after(self, run: Future[Response], caller: Hashable) -> None:
        """Give back a caller's place; that of a call nobody waits for any more when its thread is free."""
        if run.done():
            self._turns.release(caller)
            return
        loop = asyncio.get_running_loop()

        def release(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # the event loop has ended
                loop.call_soon_threadsafe(self._turns.release, caller)

        run.add_done_callback(release)

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


def _caller(request: Request) -> tuple[object, object] | None:
    """The kind whose composite resource calls; None for an Operation."""
    composite = request.observed.composite
    return composite and (composite.object.get("apiVersion"), composite.object.get("kind"))
