"""The conditions of an input: evaluated together, in one sandboxed process."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.function_messages import Request
from crossply.functions.builtin.cel_filter import TEMPLATE_CONDITION
from crossply.functions.builtin.cel_filter.expressions import ExpressionError, Question, values_until_failure
from crossply.values import Object


class ConditionError(Exception):
    """A condition cannot be evaluated. It never leaves the function: it becomes a fatal result."""

    def __str__(self) -> str:
        return f"Condition error: {self.args[0]}"


class Conditions(NamedTuple):
    """The values of the conditions of one request; an ExpressionError stands for one that has none."""

    step: Any
    resources: list[Any]
    """In the order of the resources."""

    def allow_step(self) -> bool:
        """Whether the step runs; raises ConditionError."""
        return _as_boolean(self.step)

    def allow_resource(self, index: int) -> bool:
        """Whether a resource is composed; raises ConditionError."""
        return _as_boolean(self.resources[index])


def has_conditions(function_input: Object) -> bool:
    """Whether the input, or a resource in it, has a condition."""
    return any(expression is not None for expression in _expressions(function_input))


def evaluate_conditions(request: Request) -> Conditions:
    """Evaluate the conditions of the input; what has none is true."""
    expressions = _expressions(request.input or {})
    program = [(text, TEMPLATE_CONDITION) for text in expressions if text is not None]
    questions = [Question(text, kind=TEMPLATE_CONDITION) for text, _ in program]
    if not questions:
        return Conditions(True, [True] * (len(expressions) - 1))
    try:
        answers = iter(values_until_failure(request, questions, program))
    except ExpressionError as error:
        return Conditions(error, [])
    step, *resources = [True if text is None else next(answers) for text in expressions]
    return Conditions(step, resources)


def _expressions(function_input: Object) -> list[str | None]:
    """The condition of the step, and that of each resource."""
    resources = function_input.get("resources") or []
    if not isinstance(resources, list):
        resources = []
    return [_condition(function_input), *map(_condition, resources)]


def _condition(owner: Any) -> str | None:
    condition = owner.get("condition") if isinstance(owner, dict) else None
    return condition if isinstance(condition, str) else None


def _as_boolean(value: Any) -> bool:
    if isinstance(value, ExpressionError):
        raise ConditionError(str(value))
    return bool(value)
