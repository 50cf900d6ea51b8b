"""A circuit breaker: a function that cannot be reached is called only now and then.

After a few failures in a row, one call after each pause probes whether the function is back. All other calls
fail at once with the message of the last failure. Only being out of reach counts: a function that answers
with an error is reachable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from crossply.compose.function_messages import Request, Response
from crossply.functions.failures import FunctionError, FunctionTimedOut, FunctionUnavailable
from crossply.functions.runner import Runner

THRESHOLD = 5
INITIAL_PAUSE, MAX_PAUSE = 1.0, 10.0


class CircuitOpen(FunctionError):
    """The function did not answer several times in a row, and is now called less often."""

    code = "CP-324"
    grpc_code = "Unavailable"


class CircuitBreaker:
    """Wraps a runner and stops calling it while its function cannot be reached."""

    __slots__ = ("_clock", "_failures", "_last", "_lock", "_retry_at", "_runner")

    def __init__(self, runner: Runner, clock: Callable[[], float] = time.monotonic) -> None:
        self._runner = runner
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._last: FunctionError | None = None
        self._retry_at = 0.0

    def __call__(self, request: Request, timeout: float) -> Response:
        self._check()
        try:
            response = self._runner(request, timeout)
        except (FunctionUnavailable, FunctionTimedOut) as problem:
            self._record_failure(problem)
            raise
        except FunctionError:
            self._reset()
            raise
        self._reset()
        return response

    def close(self) -> None:
        self._runner.close()

    def _check(self) -> None:
        """Raise unless the call may be made."""
        with self._lock:
            if self._failures < THRESHOLD or self._last is None:
                return
            if self._clock() < self._retry_at:
                raise self._refusal(self._last)
            # The next probe does not wait for this one, which may be the only call that gets no answer.
            self._pause()

    def _pause(self) -> None:
        pause = INITIAL_PAUSE * 2.0 ** min(max(self._failures - THRESHOLD, 0), 10)
        self._retry_at = self._clock() + min(pause, MAX_PAUSE)

    def _refusal(self, last: FunctionError) -> CircuitOpen:
        # The message is that of the failure, so that conditions do not change with each attempt.
        reason = f"it did not answer {self._failures} times in a row, so it is called only now and then"
        return CircuitOpen(str(last), hint=f"{last.hint} ({reason})" if last.hint else reason)

    def _record_failure(self, problem: FunctionError) -> None:
        with self._lock:
            self._failures += 1
            self._last = problem
            self._pause()

    def _reset(self) -> None:
        with self._lock:
            self._failures, self._last = 0, None
