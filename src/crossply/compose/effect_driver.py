"""Running the engine: each effect that it yields is answered by the handler for its type."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from time import perf_counter
from typing import Any

from crossply.compose.effects import Result
from crossply.errors import CrossplyError

Handlers = Mapping[type, Callable[[Any], Any]]
"""A handler takes an effect and returns its answer, which may be awaitable for `drive_async`."""


def drive(work: Generator[Any, Any, Result], handlers: Handlers) -> Result:
    """Run a piece of the engine to its end.

    A `CrossplyError` of a handler is thrown into the engine, which reports it. Any other exception ends the
    run without a report.
    """
    try:
        effect = next(work)
        while True:
            try:
                answer = handlers[type(effect)](effect)
            except CrossplyError as problem:
                effect = work.throw(problem)
            else:
                effect = work.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result


Answered = Callable[[Any, Any, CrossplyError | None, float], None]
"""Takes an effect, its answer, the problem that came instead of one, and the `perf_counter` of its start."""


def _ignore(effect: Any, answer: Any, problem: CrossplyError | None, started: float) -> None:
    """For runs that are not recorded."""


async def drive_async(
    work: Generator[Any, Any, Result],
    handlers: Handlers,
    unreported: tuple[type[Exception], ...] = (),
    answered: Answered = _ignore,
) -> Result:
    """The same as `drive`, with handlers of which some are coroutine functions.

    Exceptions that are `unreported` also end the run without a report.
    """
    try:
        effect = next(work)
        while True:
            started = perf_counter()
            try:
                answer = handlers[type(effect)](effect)
                if hasattr(answer, "__await__"):
                    answer = await answer
            except unreported:
                raise
            except CrossplyError as problem:
                answered(effect, None, problem, started)
                effect = work.throw(problem)
            else:
                answered(effect, answer, None, started)
                effect = work.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result
