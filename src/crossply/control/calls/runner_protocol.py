"""A function as the controllers call it: without blocking the event loop.

`threaded_runner` and `inline_runner` make an async runner of a blocking `functions.runner.Runner`. The
other modules are wrappers, which `runner_factory` stacks:
`CachedRunner(ReadinessRunner(MeteredRunner(ThreadedRunner(CircuitBreaker(Remote)))))`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from crossply.compose.function_messages import Request, Response


class FunctionCall(NamedTuple):
    """One call of a step's function."""

    step: str
    request: Request
    timeout: float
    """In seconds."""
    skip_cache: bool = False
    """Call the function even if its last response has not expired."""


class Answer(NamedTuple):
    """A function's response, and in how many seconds it expires."""

    response: Response
    ttl: float | None = None
    """None if the response is not cached."""
    is_cached: bool = False
    """Whether it was taken from the cache."""
    revision: str = ""
    """The revision that answered; empty for a function without revisions."""


class AsyncRunner(Protocol):
    """Calls one function. Every failure is a `FunctionError`."""

    async def __call__(self, call: FunctionCall) -> Answer: ...

    def close(self) -> None:
        """Start no more calls and release what was opened; calls in flight finish."""
