"""`matchConditions`: expressions that must all be true for a webhook or policy to match a write."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.apiserver.admission.cel_evaluation import Evaluation
from crossply.apiserver.admission.cel_expressions import Expression
from crossply.errors import CrossplyError
from crossply.values import Object


class ConditionFailed(CrossplyError):
    """A match condition could not be evaluated, and the failure policy is Fail."""

    code = "CP-682"


class Conditions:
    """The match conditions of one webhook or policy."""

    __slots__ = ("_expressions", "_ignores_failure")

    def __init__(self, conditions: Iterable[Object], ignores_failure: bool) -> None:
        self._expressions = tuple(Expression(condition.get("expression", "")) for condition in conditions)
        self._ignores_failure = ignores_failure

    def __bool__(self) -> bool:
        return bool(self._expressions)

    def match(self, evaluation: Evaluation) -> bool:
        """Whether all are true. One that is false decides, even if others failed."""
        problems = []
        for expression in self._expressions:
            outcome = evaluation.evaluate(expression)
            if outcome.problem:
                problems.append(outcome.problem)
            elif outcome.value is not True:
                return False
        if problems and not self._ignores_failure:
            raise ConditionFailed(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
        return not problems
