"""Calls of functions under observation: counted, timed, and spans of the run that makes them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from crossply.compose.messages import SEVERITY_FATAL, SEVERITY_WARNING, Response
from crossply.errors import CrossplyError
from crossply.functions.binding import BUILTIN, REMOTE, choose_runtime, remote_target
from crossply.functions.failures import FunctionError
from crossply.functions.remote import METHOD
from crossply.record import metrics
from crossply.record.run import current
from crossply.values import Object

OK, UNKNOWN = "OK", "Unknown"
IN_PROCESS = "in-process"
"""The target of functions that are called without gRPC."""
_SEVERITIES = {SEVERITY_FATAL: "Fatal", SEVERITY_WARNING: "Warning"}


class Call:
    """One call; what it is answered decides how it is counted."""

    __slots__ = ("response",)

    def __init__(self) -> None:
        self.response: Response | None = None

    def answered(self, response: Response) -> Response:
        """Note the answer, and pass it on."""
        self.response = response
        return response


class FunctionMeter:
    """The figures of one function."""

    def __init__(self, name: str, package: str = "", target: str = IN_PROCESS) -> None:
        self._name = name
        self._labels = (name, package, target, METHOD)
        self._requests = metrics.FUNCTION_REQUESTS.of(*self._labels)
        self._reused = metrics.ANSWERS_REUSED.of(name)
        self._asked = metrics.ANSWERS_NOT_KNOWN.of(name)

    @contextmanager
    def calling(self, step: str) -> Iterator[Call]:
        """Observe one call that a step makes."""
        run = current()
        trace = run.trace if run is not None else None
        if trace is not None:
            trace.begin_call(step, self._name)
        self._requests.value += 1
        call, begun, code, said = Call(), time.perf_counter(), OK, ""
        try:
            yield call
        except CrossplyError as problem:
            code = problem.grpc_code if isinstance(problem, FunctionError) else UNKNOWN
            said = f"{problem.code}: {problem}"
            raise
        finally:
            self._count(call, code, time.perf_counter() - begun)
            if trace is not None:
                trace.end_call(said)

    def looked_up(self, found: bool) -> None:
        """Note whether an answer from before was still good."""
        (self._reused if found else self._asked).value += 1

    def _count(self, call: Call, code: str, seconds: float) -> None:
        labels = (*self._labels, code, _severity(call.response))
        metrics.FUNCTION_RESPONSES.of(*labels).value += 1
        metrics.FUNCTION_SECONDS.of(*labels).add(seconds)


def meter_of(function: Object) -> FunctionMeter:
    """The meter of a Function."""
    package = str((function.get("spec") or {}).get("package") or "")
    runtime = choose_runtime(function)
    target = remote_target(function) if runtime == REMOTE else IN_PROCESS if runtime == BUILTIN else runtime
    return FunctionMeter(function["metadata"]["name"], package, target)


def _severity(response: Response | None) -> str:
    """That of the worst result; what is less severe has a larger number."""
    results = response.results if response is not None else ()
    return _SEVERITIES.get(min((each.severity for each in results if each.severity), default=0), "Normal")
