"""The values of expressions as plain data, and what it means that one has no value."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.kro.cel.native import to_native
from crossply.functions.builtin.kro.cel.values import EvaluationError
from crossply.functions.builtin.kro.expressions import Expression, GraphError
from crossply.values.goquote import quote

_PENDING = ("no such key", "no such field", "no such attribute", "index out of bounds")


class DataPending(Exception):
    """Something that an expression refers to is not there yet."""


class NotReady(Exception):
    """A resource is not ready."""


def evaluate(expression: Expression, scope: dict[str, Any]) -> Any:
    """The value of an expression as plain data; raises GraphError."""
    shown = quote(expression.shown)
    try:
        value = expression.evaluate(scope)
    except EvaluationError as error:
        raise GraphError(f"eval {shown}: {error}") from None
    try:
        return to_native(value)
    except EvaluationError as error:
        raise GraphError(f"convert {shown}: {error}") from None


def is_pending(error: GraphError) -> bool:
    """Whether an expression failed because of something that may come."""
    return any(pattern in str(error) for pattern in _PENDING)


def to_boolean(expression: Expression, value: Any) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise GraphError(f"expression {quote(expression.shown)} did not return bool")
    return value
