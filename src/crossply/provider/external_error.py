"""Errors of the external system: what a provider's methods raise, and how it is reported."""

from __future__ import annotations

from crossply.errors import CrossplyError
from crossply.kube.failures import Conflict


class ExternalError(CrossplyError):
    """The external system refused a request of a provider."""

    code = "CP-880"


class ExternalFailure(CrossplyError):
    """A method of a provider raised an exception."""

    code = "CP-881"
    hint = "the message comes from the provider's code or from the external system"

    def __init__(self, message: str, *, is_conflict: bool = False, place: str = "", hint: str = "") -> None:
        super().__init__(message, place=place, hint=hint)
        self.is_conflict = is_conflict
        """An object of the API was written in between: a retry is enough."""


_MISTAKES = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError)
"""Exceptions whose text says little without their name."""


def external_failure(problem: BaseException) -> ExternalFailure:
    """The report of an exception: its text, and what to do about it."""
    name, text = type(problem).__name__, str(problem)
    if not text:
        text = name
    elif isinstance(problem, _MISTAKES):
        text = f"{name}: {text}"
    hint = problem.hint if isinstance(problem, ExternalError) else ""
    failure = ExternalFailure(f"{text} ({hint})" if hint else text, is_conflict=isinstance(problem, Conflict))
    failure.__cause__ = problem
    return failure
