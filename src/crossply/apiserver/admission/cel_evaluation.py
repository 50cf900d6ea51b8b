"""Evaluates the expressions of a webhook or policy for one write, with its composed variables.

Its `matchConditions` are such expressions: all must be true for it to match the write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import monotonic

from crossply.apiserver.admission.admission_request import describe
from crossply.apiserver.admission.attributes import Attributes
from crossply.apiserver.admission.cel_environment import Authorize, asking, authorizer_value
from crossply.apiserver.admission.cel_expressions import Expression, Outcome, as_data
from crossply.errors import CrossplyError
from crossply.schema.cel_error_translation import BUDGET_SPENT
from crossply.schema.cel_program import LARGEST_DATA, SECONDS_TOGETHER, data_size
from crossply.values import Object

_MISSING = "no such key: "


class Evaluation:
    """The CEL variables of one write. Composed variables are evaluated when an expression first uses them."""

    def __init__(
        self,
        write: Attributes,
        version: str,
        authorize: Authorize | None,
        *,
        params: Object | None = None,
        namespace: Object | None = None,
        variables: Mapping[str, Expression] | None = None,
    ) -> None:
        self._user = write.call.user
        self._authorize = authorize
        self._expressions = variables or {}
        self._variables: Object = {}
        self._composed = 0
        self._deadline = monotonic() + SECONDS_TOGETHER
        self._failed: dict[str, str] = {}
        self._data: Object = {
            "object": write.obj if write.operation != "DELETE" else None,
            "oldObject": write.old,
            "request": describe(write, version),
            "params": params,
            "namespaceObject": namespace,
            "variables": self._variables,
            "authorizer": authorizer_value(write),
        }

    def evaluate(self, expression: Expression) -> Outcome:
        if monotonic() > self._deadline:
            return Outcome(None, BUDGET_SPENT)
        for name in expression.variables:
            self._compose(name)
        with asking(self._authorize, self._user):
            outcome = expression.evaluate(self._data, self._composed)
        return self._explained(expression, outcome)

    def _compose(self, name: str) -> None:
        expression = self._expressions.get(name)
        if expression is None or name in self._variables or name in self._failed:
            return
        # Marked first: a variable can only use earlier ones, but nothing may loop forever.
        self._failed[name] = "it names itself"
        outcome = self.evaluate(expression)
        if outcome.problem:
            verb = "compile" if outcome.problem.startswith("compilation error: ") else "evaluate"
            why = outcome.problem.removeprefix("compilation error: ").partition(" resulted in error: ")
            self._failed[name] = f'composited variable "{name}" fails to {verb}: {why[2] or why[0]}'
        else:
            del self._failed[name]
            self._variables[name] = as_data(outcome.value)
            self._composed += data_size(self._variables[name], LARGEST_DATA)

    def _explained(self, expression: Expression, outcome: Outcome) -> Outcome:
        """Explain an error about a composed variable that could not be evaluated."""
        head, separator, name = outcome.problem.rpartition(_MISSING)
        if separator and name in expression.variables and name in self._failed:
            return Outcome(None, head + self._failed[name])
        return outcome


def namespace_for_expressions(namespace: Object) -> Object:
    """A namespace without the fields that expressions may not see."""
    hidden = ("managedFields", "ownerReferences", "selfLink")
    shown: Object = {key: namespace[key] for key in ("spec", "status") if key in namespace}
    shown["metadata"] = {key: value for key, value in namespace["metadata"].items() if key not in hidden}
    return shown


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
