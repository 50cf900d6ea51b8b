"""Calls of functions under observation: counted, timed, and spans of the run that makes them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from crossply.compose.messages import SEVERITY_FATAL, SEVERITY_WARNING, Response
from crossply.errors import CrossplyError
from crossply.functions.binding import BUILTIN, REMOTE, choose_runtime, remote_target
from crossply.functions.failures import FunctionError
from crossply.functions.remote import METHOD
from crossply.record.metrics import FUNCTION_REQUESTS, FUNCTION_RESPONSES, FUNCTION_SECONDS
from crossply.record.run import current
from crossply.values import Object

OK, UNKNOWN = "OK", "Unknown"
_SEVERITIES = {SEVERITY_FATAL: "Fatal", SEVERITY_WARNING: "Warning"}

Labels = tuple[str, str, str, str]


class Call:
    """One call; what it is answered decides how it is counted."""

    __slots__ = ("response",)

    def __init__(self) -> None:
        self.response: Response | None = None

    def answered(self, response: Response) -> Response:
        """Note the answer, and pass it on."""
        self.response = response
        return response


class FunctionCalls:
    """Counts the calls of the functions that are known."""

    def __init__(self) -> None:
        self._labels: dict[str, Labels] = {}

    def know(self, functions: Iterable[Object]) -> None:
        """Take the labels of what is called from now on from these Functions."""
        self._labels = {function["metadata"]["name"]: _labels(function) for function in functions}

    @contextmanager
    def calling(self, step: str, function: str) -> Iterator[Call]:
        """Observe one call."""
        labels = self._labels.get(function) or (function, "", "", METHOD)
        run = current()
        trace = run.trace if run is not None else None
        if trace is not None:
            trace.begin_call(step, function)
        FUNCTION_REQUESTS.of(*labels).value += 1
        call, begun, code, said = Call(), time.perf_counter(), OK, ""
        try:
            yield call
        except CrossplyError as problem:
            code = problem.grpc_code if isinstance(problem, FunctionError) else UNKNOWN
            said = f"{problem.code}: {problem}"
            raise
        finally:
            ended = (*labels, code, _severity(call.response))
            FUNCTION_RESPONSES.of(*ended).value += 1
            FUNCTION_SECONDS.of(*ended).add(time.perf_counter() - begun)
            if trace is not None:
                trace.end_call(said)


def _labels(function: Object) -> Labels:
    package = str((function.get("spec") or {}).get("package") or "")
    return function["metadata"]["name"], package, _target(function), METHOD


def _target(function: Object) -> str:
    try:
        runtime = choose_runtime(function)
    except FunctionError:
        return ""
    return remote_target(function) if runtime == REMOTE else "in-process" if runtime == BUILTIN else runtime


def _severity(response: Response | None) -> str:
    """That of the worst result: what is less severe has a larger number."""
    worst = (
        min((result.severity for result in response.results if result.severity), default=0) if response else 0
    )
    return _SEVERITIES.get(worst, "Normal")
