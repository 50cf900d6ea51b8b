"""Sprig's functions about emptiness and choice, and `fail`."""

from __future__ import annotations

from typing import Any, NoReturn

from crossply.functions.builtin.go_templating.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.values import Failure, Structure


def empty(value: Any) -> bool:
    """Tell whether a value is nil, zero, false, or of no length; a struct never is."""
    if isinstance(value, Structure | Failure):
        return False
    return not value


def default(fallback: Any, *given: Any) -> Any:
    """The given value, or the fallback when it is empty."""
    return fallback if not given or empty(given[0]) else given[0]


def coalesce(*values: Any) -> Any:
    """The first value that is not empty; nil when all are."""
    return next((value for value in values if not empty(value)), None)


def all_given(*values: Any) -> bool:
    """Tell whether no value is empty."""
    return not any(map(empty, values))


def any_given(*values: Any) -> bool:
    """Tell whether a value is not empty."""
    return not all(map(empty, values))


def ternary(when_true: Any, when_false: Any, test: bool) -> Any:
    """Choose by a boolean."""
    return when_true if test else when_false


def fail(message: str) -> NoReturn:
    """Give up, with a message of the template's own."""
    raise FunctionFailed(message)


def hello() -> str:
    """Say hello."""
    return "Hello!"
