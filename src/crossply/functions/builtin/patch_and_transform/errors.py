"""Errors of patches, transforms and checks, and errors of input fields.

None of them leaves the function: `compiled_input_run` turns them into results of the response.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from crossply.errors import CrossplyError
from crossply.values.goquote import quote


class Failure(Exception):
    """A patch, transform or check fails on the objects of this request."""

    def __init__(self, message: str, *, not_found: bool = False) -> None:
        super().__init__(message)
        self.not_found = not_found


class Fatal(Exception):
    """The run stops; the message becomes the fatal result."""


FAILURES = (Failure, CrossplyError)
"""What reading, transforming or writing a value may raise."""


def is_not_found(error: BaseException) -> bool:
    """Whether the cause is a field that does not exist (yet)."""
    return bool(getattr(error, "not_found", False))


def wrap(text: str, error: BaseException) -> Failure:
    """Add context to an error. A "not found" stays one."""
    return Failure(f"{text}: {error}", not_found=is_not_found(error))


def fail_with(message: str) -> Callable[..., NoReturn]:
    """Make a step that always fails: a broken setting is reported only when a value reaches it."""

    def fail(*_values: Any) -> NoReturn:
        raise Failure(message)

    return fail


class FieldError(Exception):
    """A field of the input is missing or invalid; worded as Kubernetes words it."""


def required(path: str, detail: str) -> FieldError:
    return FieldError(f"{path}: Required value: {detail}")


def invalid(path: str, value: str, detail: str) -> FieldError:
    return FieldError(f"{path}: Invalid value: {quote(value)}: {detail}")


def duplicate(path: str, value: str) -> FieldError:
    return FieldError(f"{path}: Duplicate value: {quote(value)}")
