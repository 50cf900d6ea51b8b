"""The functions that pipelines name: Function objects of the cluster, each bound to its runner.

A built-in function runs right here, in the event loop: it is pure and takes microseconds. Everything else is
called beside the loop, so that a slow function holds up only the composite resource that waits for it.
"""

from __future__ import annotations

import asyncio

from crossply.compose.messages import Request, Response
from crossply.functions.binding import BUILTIN, choose_runtime
from crossply.functions.runners import Runners
from crossply.kinds.composition import NATIVE_FUNCTION, Step
from crossply.values import Object

CALL_SECONDS = 120.0
"""How long a function may take; the time of a whole reconcile."""


class PipelineFunctions:
    """Calls functions by the name of their package object."""

    def __init__(self) -> None:
        self._objects: dict[str, Object] = {}
        self._runners = Runners(())
        self._in_process: dict[str, bool] = {NATIVE_FUNCTION: True}

    def put(self, function: Object) -> None:
        """Know a Function, or know it as it is now."""
        name = function["metadata"]["name"]
        if self._objects.get(name, {}).get("spec") == function.get("spec"):
            self._objects[name] = function
            return
        self._objects[name] = function
        self._rebind()

    def remove(self, name: str) -> None:
        """Forget a Function."""
        if self._objects.pop(name, None) is not None:
            self._rebind()

    def _rebind(self) -> None:
        self._runners.close()
        self._runners = Runners(self._objects.values())
        self._in_process = {NATIVE_FUNCTION: True}
        for name, function in self._objects.items():
            self._in_process[name] = choose_runtime(function) == BUILTIN

    async def call(self, step: Step, request: Request) -> Response:
        """Call the step's function."""
        if self._in_process.get(step.function):
            return self._runners.call(step.function, request, CALL_SECONDS)
        return await asyncio.to_thread(self._runners.call, step.function, request, CALL_SECONDS)

    def close(self) -> None:
        """Stop everything that was started for functions."""
        self._runners.close()
