"""Fails calls of a revision that is reported not to run, after a short wait instead of a whole timeout."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from crossply.control.calls.endpoint import Endpoint
from crossply.control.calls.runner_protocol import Answer, AsyncRunner, FunctionCall
from crossply.functions.failures import FunctionNotRunning

START_SECONDS = 5.0
"""How long a call waits for a revision that is reported not to run: it may be starting."""


class RevisionHealth(Protocol):
    """What is known about whether revisions run."""

    def why_not_running(self, revision: str) -> str | None:
        """The reason if a revision is reported not to run; else None."""

    def call_failed(self, endpoint: Endpoint) -> None:
        """A call failed because the revision does not run; its callers want to know when it does."""


class ReadinessRunner:
    """Calls a revision that is reported not to run only if it accepts connections soon.

    The reported condition may be out of date, so it alone is no reason to fail.
    """

    def __init__(
        self,
        runner: AsyncRunner,
        endpoint: Endpoint,
        is_ready: Callable[[float], Awaitable[bool]],
        health: RevisionHealth,
    ) -> None:
        self._runner = runner
        self._endpoint = endpoint
        self._is_ready = is_ready
        self._health = health

    async def __call__(self, call: FunctionCall) -> Answer:
        revision, wait = self._endpoint.revision, min(START_SECONDS, call.timeout)
        if self._health.why_not_running(revision) is not None and not await self._is_ready(wait):
            # It may have started meanwhile.
            reason = self._health.why_not_running(revision)
            if reason is not None:
                self._health.call_failed(self._endpoint)
                raise _not_running(self._endpoint, reason)
        return await self._runner(call)

    def close(self) -> None:
        self._runner.close()


def _not_running(endpoint: Endpoint, reason: str) -> FunctionNotRunning:
    problem = f"its revision {endpoint.revision} is not running: {reason}"
    command = f"kubectl describe functionrevision {endpoint.revision}"
    return FunctionNotRunning(
        f'cannot run Function "{endpoint.function}": {problem}; see {command}', hint=f"see why: {command}"
    )
