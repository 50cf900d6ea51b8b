"""The functions that pipelines name: Function objects of the cluster, each bound to its runner.

A built-in function that is pure and takes microseconds runs right here, in the event loop. Everything else is
called beside the loop, each function by threads of its own, so that a slow one holds up only the composite
resources that wait for it.
"""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor

from crossply.compose.messages import Request, Response
from crossply.control.calls.function_calls import FunctionMeter, meter_of
from crossply.control.calls.reuse import Answer, Answers
from crossply.functions import builtin
from crossply.functions.binding import BUILTIN, bind, bind_builtin, choose_runtime
from crossply.functions.failures import FunctionNotBound
from crossply.functions.runner import Runner
from crossply.kinds.composition import NATIVE_FUNCTION, Step
from crossply.values import Object

CALL_SECONDS = 120.0
"""How long a function may take; the time of a whole reconcile."""
_AT_ONCE = 32
"""How many calls one function gets at the same time."""


class _Bound:
    """One function and how it is called."""

    def __init__(self, name: str, runner: Runner, meter: FunctionMeter, pure: bool, quick: bool) -> None:
        self.meter = meter
        self.pure = pure
        """Whether the same question always gets the same answer."""
        self._name = name
        self._runner = runner
        self._threads = None if quick else ThreadPoolExecutor(_AT_ONCE, thread_name_prefix=name)

    async def call(self, step: str, request: Request, seconds: float) -> Answer:
        with self.meter.calling(step) as call:
            return Answer(call.answered(await self._run(request, seconds)))

    async def _run(self, request: Request, seconds: float) -> Response:
        if self._threads is None:
            return self._runner(request, seconds)
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        return await loop.run_in_executor(self._threads, context.run, self._runner, request, seconds)

    def close(self) -> None:
        """Begin no more calls; those under way end by themselves."""
        if self._threads is None:
            self._runner.close()
            return
        self._threads.submit(self._runner.close)
        self._threads.shutdown(wait=False)


class PipelineFunctions:
    """Calls functions by the name of their package object."""

    def __init__(self, seconds: float = CALL_SECONDS) -> None:
        self._seconds = seconds
        self._objects: dict[str, Object] = {}
        self._bound: dict[str, _Bound] = {}
        self._answers = Answers()

    def put(self, function: Object) -> None:
        """Know a Function, or know it as it is now."""
        name = function["metadata"]["name"]
        before = self._objects.get(name)
        self._objects[name] = function
        if before is not None and _binding(before) != _binding(function):
            self._unbind(name)

    def remove(self, name: str) -> None:
        """Forget a Function."""
        if self._objects.pop(name, None) is not None:
            self._unbind(name)

    async def call(self, step: Step, request: Request) -> Answer:
        """Ask the step's function, unless its last answer to the same question is still good."""
        bound = self._bound.get(step.function) or self._bind(step.function)
        if bound.pure:
            return await bound.call(step.name, request, self._seconds)
        known = self._answers.find(step.function, request)
        bound.meter.looked_up(known is not None)
        if known is not None:
            return known
        answer = await bound.call(step.name, request, self._seconds)
        return self._answers.keep(step.function, request, answer.response)

    def close(self) -> None:
        """Stop everything that was started for functions."""
        for name in list(self._bound):
            self._unbind(name)

    def _bind(self, name: str) -> _Bound:
        if name == NATIVE_FUNCTION:
            runner = bind_builtin(builtin.NATIVE, name)
            bound = _Bound(name, runner, FunctionMeter(name), pure=True, quick=True)
        elif name in self._objects:
            function = self._objects[name]
            pure = choose_runtime(function) == BUILTIN
            quick = pure and builtin.is_quick(function["spec"]["package"])
            bound = _Bound(name, bind(function), meter_of(function), pure, quick)
        else:
            raise FunctionNotBound(
                f'cannot get gRPC client connection for Function "{name}": cannot find an active '
                "FunctionRevision (a FunctionRevision with spec.desiredState: Active)",
                hint=f"install it: kubectl apply a Function of pkg.crossplane.io/v1 that is called {name}",
            )
        self._bound[name] = bound
        return bound

    def _unbind(self, name: str) -> None:
        self._answers.forget()
        bound = self._bound.pop(name, None)
        if bound is not None:
            bound.close()


def _binding(function: Object) -> tuple[object, object]:
    """What decides how a Function is run."""
    return function.get("spec"), function["metadata"].get("annotations")
