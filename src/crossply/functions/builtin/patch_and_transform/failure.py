"""Why a patch, a transform or a check could not be done.

A failure never leaves the function as an exception: `composing` turns it into a result of the response.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from crossply.errors import CrossplyError


class Failure(Exception):
    """Something in the input does not work with the objects at hand."""

    def __init__(self, message: str, *, not_found: bool = False) -> None:
        super().__init__(message)
        self.not_found = not_found


class Fatal(Exception):
    """The whole run has to stop; the message is the fatal result."""


REASONS = (Failure, CrossplyError)
"""What reading, changing or writing a value may raise."""


def is_not_found(reason: BaseException) -> bool:
    """Tell whether the reason is that a field is not there (yet)."""
    return bool(getattr(reason, "not_found", False))


def wrap(text: str, reason: BaseException) -> Failure:
    """Put what was being done in front of the reason, which stays a "not found" if it was one."""
    return Failure(f"{text}: {reason}", not_found=is_not_found(reason))


def failing(message: str) -> Callable[..., NoReturn]:
    """Make a step that always fails. A broken setting only matters once a value gets there."""

    def fail(*_values: Any) -> NoReturn:
        raise Failure(message)

    return fail
