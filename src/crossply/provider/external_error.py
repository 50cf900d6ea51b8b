"""The error that a provider's methods raise for what users can mend."""

from __future__ import annotations

from crossply.errors import CrossplyError


class ExternalError(CrossplyError):
    """The external system refused what a provider asked of it."""

    code = "CP-880"


def message_of(problem: BaseException) -> str:
    """What a condition says of an exception: its text, and what to do about it."""
    text = str(problem) or type(problem).__name__
    hint = problem.hint if isinstance(problem, CrossplyError) else ""
    return f"{text} ({hint})" if hint else text
