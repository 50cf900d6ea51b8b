"""How the steps of installing a package fail, and the pause after a failed fetch.

A registry may word its refusal differently each time, for example with a request id. The condition then
changes, which enqueues the revision; without a pause the registry would be asked in a busy loop.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from crossply.errors import CrossplyError
from crossply.kube.controller import Waiting


class StepFailed(Exception):
    """A step failed; `reason` is that of the event, `retry` whether a retry may help."""

    def __init__(self, problem: CrossplyError, reason: str, retry: bool = True) -> None:
        super().__init__(str(problem))
        self.problem, self.reason, self.retry = problem, reason, retry


@asynccontextmanager
async def step(context: str, reason: str, retry: bool = True) -> AsyncIterator[None]:
    """One step; `Waiting` for others is no failure of it."""
    try:
        yield
    except Waiting:
        raise
    except CrossplyError as problem:
        raise StepFailed(problem.within(context), reason, retry) from None


SECONDS = 1.0


class FetchBackoff:
    """Which revisions rest, until when."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, tuple[int, float]] = {}

    def check(self, name: str, generation: int) -> None:
        """Raise where a revision rests; one that was changed since does not."""
        failed, until = self._until.get(name, (0, 0.0))
        if failed == generation and self._clock() < until:
            raise Waiting(f"the package of {name} could not be fetched a moment ago")

    @contextmanager
    def after_failure(self, name: str, generation: int) -> Iterator[None]:
        """Have a revision rest if what is done inside fails."""
        try:
            yield
        except CrossplyError:
            self._until[name] = generation, self._clock() + SECONDS
            raise
        self._until.pop(name, None)

    def forget(self, name: str) -> None:
        """A revision need not rest any longer."""
        self._until.pop(name, None)
