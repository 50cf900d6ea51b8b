"""The steps on the way of a package into a control plane, each of which may fail in its own words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from crossply.control.controller import Waiting
from crossply.errors import CrossplyError


class StepFailed(Exception):
    """A step failed: why, under which reason events tell it, and whether a retry may help."""

    def __init__(self, problem: CrossplyError, reason: str, retry: bool = True) -> None:
        super().__init__(str(problem))
        self.problem, self.reason, self.retry = problem, reason, retry


@asynccontextmanager
async def step(context: str, reason: str, retry: bool = True) -> AsyncIterator[None]:
    """One step; that somebody else must act first is no failure of it."""
    try:
        yield
    except Waiting:
        raise
    except CrossplyError as problem:
        raise StepFailed(problem.within(context), reason, retry) from None
