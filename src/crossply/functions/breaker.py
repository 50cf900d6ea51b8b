"""Not asking a function that does not answer: who waits for it in vain keeps others waiting, too.

After a few failures in a row the function is asked only now and then, by one call after each pause, to see
whether it is back; all other calls fail at once, with the words of the last failure. Only being out of reach
counts: a function that answers with an error is there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from crossply.compose.messages import Request, Response
from crossply.functions.failures import FunctionError, FunctionTimedOut, FunctionUnavailable
from crossply.functions.runner import Runner

FAILURES = 5
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 10.0


class FunctionNotAsked(FunctionError):
    """The function did not answer several times in a row, and is asked only now and then."""

    code = "CP-324"
    grpc_code = "Unavailable"


class Breaker:
    """A runner that gives another one a rest while that does not answer."""

    __slots__ = ("_clock", "_failures", "_last", "_lock", "_opens", "_runner")

    def __init__(self, runner: Runner, clock: Callable[[], float] = time.monotonic) -> None:
        self._runner = runner
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._last: FunctionError | None = None
        self._opens = 0.0
        """When it may be asked again."""

    def __call__(self, request: Request, timeout: float) -> Response:
        """Call the function, or fail as it did the last time."""
        self._enter()
        try:
            response = self._runner(request, timeout)
        except (FunctionUnavailable, FunctionTimedOut) as problem:
            self._failed(problem)
            raise
        except FunctionError:
            self._answered()
            raise
        self._answered()
        return response

    def close(self) -> None:
        """Let go of what the runner has opened."""
        self._runner.close()

    def _enter(self) -> None:
        """Raise where the call is not to be made."""
        with self._lock:
            if self._failures < FAILURES or self._last is None:
                return
            if self._clock() < self._opens:
                raise self._refusal(self._last)
            # The next one need not wait for this one, which may be the only one that gets no answer.
            self._rest()

    def _rest(self) -> None:
        pause = FIRST_PAUSE * 2.0 ** min(max(self._failures - FAILURES, 0), 10)
        self._opens = self._clock() + min(pause, LONGEST_PAUSE)

    def _refusal(self, last: FunctionError) -> FunctionNotAsked:
        # The words are those of the failure, so that conditions do not change with each attempt.
        said = f"it did not answer {self._failures} times in a row, so it is asked again only now and then"
        return FunctionNotAsked(str(last), hint=f"{last.hint} ({said})" if last.hint else said)

    def _failed(self, problem: FunctionError) -> None:
        with self._lock:
            self._failures += 1
            self._last = problem
            self._rest()

    def _answered(self) -> None:
        with self._lock:
            self._failures, self._last = 0, None
