"""Steps that name an image instead of a Function: the entries of `spec.functions` of a Composition.

They have no revisions and no connection that stays open; each call is a run of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from crossply.compose.messages import Request, Response
from crossply.control.calls.function_calls import FunctionMeter
from crossply.control.calls.reuse import Answer
from crossply.functions.failures import FunctionNotBound
from crossply.kinds.composition import Step

RunStep = Callable[[Step, Request, float], Response]
"""Runs the container of a step, within so many seconds."""
_AT_ONCE = 8
_TARGET = "container"


class ContainerSteps:
    """Runs the containers of steps, beside the event loop."""

    def __init__(self) -> None:
        self.run: RunStep | None = None
        """Who runs them; without anybody they cannot be called."""
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="container")

    async def call(self, step: Step, request: Request, seconds: float) -> Answer:
        """Run the container of a step, and wait for its answer."""
        if self.run is None or step.container is None:
            raise FunctionNotBound(
                f'cannot run function "{step.name}": there is nothing here that runs containers',
                hint="install crun or runc, or serve the function and call it as a step of a pipeline",
            )
        with FunctionMeter(step.function, step.container.image, _TARGET).calling(step.name) as call:
            loop, context = asyncio.get_running_loop(), contextvars.copy_context()
            run = loop.run_in_executor(self._threads, context.run, self.run, step, request, seconds)
            return Answer(call.answered(await run))

    def close(self) -> None:
        """Begin no more runs."""
        self._threads.shutdown(wait=False)
