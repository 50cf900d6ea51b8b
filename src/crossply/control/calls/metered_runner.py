"""Counts and times the calls of a function, and makes them spans of the current run."""

from __future__ import annotations

import time

from crossply.compose.function_messages import SEVERITY_FATAL, SEVERITY_WARNING, Response
from crossply.control.calls.runner_protocol import Answer, AsyncRunner, FunctionCall
from crossply.errors import CrossplyError
from crossply.functions.binding import BUILTIN, REMOTE, choose_runtime, remote_target
from crossply.functions.failures import FunctionError
from crossply.functions.remote import METHOD
from crossply.record import control_plane_metrics as metrics
from crossply.record.run_context import current
from crossply.values import Object

OK, UNKNOWN = "OK", "Unknown"
IN_PROCESS = "in-process"
"""The target of functions that are called without gRPC."""
_SEVERITIES = {SEVERITY_FATAL: "Fatal", SEVERITY_WARNING: "Warning"}


class MeteredRunner:
    """Observes the calls of one function; `target` says where it runs."""

    def __init__(
        self, runner: AsyncRunner, function: str, package: str = "", target: str = IN_PROCESS
    ) -> None:
        self._runner = runner
        self._function = function
        self._labels = (function, package, target, METHOD)
        self._requests = metrics.FUNCTION_REQUESTS.of(*self._labels)

    async def __call__(self, call: FunctionCall) -> Answer:
        run = current()
        trace = run.trace if run is not None else None
        if trace is not None:
            trace.begin_call(call.step, self._function)
        self._requests.value += 1
        start, response, code, failure = time.perf_counter(), None, OK, ""
        try:
            answer = await self._runner(call)
            response = answer.response
            return answer
        except CrossplyError as problem:
            code = problem.grpc_code if isinstance(problem, FunctionError) else UNKNOWN
            failure = f"{problem.code}: {problem}"
            raise
        finally:
            self._count(response, code, time.perf_counter() - start)
            if trace is not None:
                trace.end_call(failure)

    def close(self) -> None:
        self._runner.close()

    def _count(self, response: Response | None, code: str, seconds: float) -> None:
        labels = (*self._labels, code, _worst_severity(response))
        metrics.FUNCTION_RESPONSES.of(*labels).value += 1
        metrics.FUNCTION_SECONDS.of(*labels).add(seconds)


def target_of(function: Object) -> str:
    """Where a Function without a package runs, as metrics say it."""
    runtime = choose_runtime(function)
    return remote_target(function) if runtime == REMOTE else IN_PROCESS if runtime == BUILTIN else runtime


def _worst_severity(response: Response | None) -> str:
    # The more severe a result, the smaller its number; 0 is unspecified.
    results = response.results if response is not None else ()
    return _SEVERITIES.get(
        min((result.severity for result in results if result.severity), default=0), "Normal"
    )
