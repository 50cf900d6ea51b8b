"""default, empty, coalesce, ternary, all, any and fail."""

from __future__ import annotations

from typing import Any, NoReturn

from crossply.functions.builtin.go_templating.engine.go_types import Failure, Structure
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed


def empty(value: Any) -> bool:
    """Whether a value is nil, zero, false or has no length; a struct is never empty."""
    if isinstance(value, Structure | Failure):
        return False
    return not value


def default(fallback: Any, *value: Any) -> Any:
    """The value, or the fallback when it is empty."""
    return fallback if not value or empty(value[0]) else value[0]


def coalesce(*values: Any) -> Any:
    """The first value that is not empty; nil when all are."""
    return next((value for value in values if not empty(value)), None)


def all_non_empty(*values: Any) -> bool:
    return not any(map(empty, values))


def any_non_empty(*values: Any) -> bool:
    return not all(map(empty, values))


def ternary(if_true: Any, if_false: Any, test: bool) -> Any:
    return if_true if test else if_false


def fail(message: str) -> NoReturn:
    raise FunctionFailed(message)


def hello() -> str:
    return "Hello!"
