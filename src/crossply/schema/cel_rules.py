"""The rules of one schema node (`x-kubernetes-validations`): compile each once, evaluate it for each value.

A rule that does not compile is an error of that rule wherever it would have been evaluated; it never stops
the others. A rule that mentions `oldSelf` compares two versions of an object and is left out when there is
only one, unless it says `optionalOldSelf`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.schema.cel_error_translation import evaluation_failure, is_cost
from crossply.schema.cel_types import Declared
from crossply.schema.cel_values import WrongData, to_cel
from crossply.schema.field_errors import (
    DUPLICATE,
    FORBIDDEN,
    INVALID,
    OMITTED,
    REQUIRED,
    FieldError,
)
from crossply.values import Object

LONGEST_RULE = 64 * 1024
LONGEST_MESSAGE = 5 * 1024
_REASONS = {
    "FieldValueForbidden": FORBIDDEN,
    "FieldValueRequired": REQUIRED,
    "FieldValueDuplicate": DUPLICATE,
}


class OutOfBudget(Exception):
    """A rule took too long: no rule after it is evaluated. Carries the errors found until then."""

    def __init__(self, errors: list[FieldError]) -> None:
        super().__init__()
        self.errors = errors


class Rule(NamedTuple):
    """One rule, compiled; `problem` says why it could not be."""

    source: Object
    expression: Any = None
    message: Any = None
    uses_old: bool = False
    field: str = ""
    problem: str = ""

    @property
    def title(self) -> str:
        """The rule as error texts name it: its message if it has one."""
        text: str = self.source.get("message") or self.source.get("rule") or ""
        return text.strip()


def compile_rules(sources: list[Object], schema: Object, declared: Declared) -> list[Rule]:
    """Compile the rules of a node against its declared type."""
    from crossply.schema.cel_environment import Environments

    environments = Environments(declared)
    return [
        _compile(source, schema, environments) for source in sources if (source.get("rule") or "").strip()
    ]


def _compile(source: Object, schema: Object, environments: Any) -> Rule:
    text = source["rule"]
    if len(text) > LONGEST_RULE:
        return Rule(source, problem=f"compilation failed: the rule is longer than {LONGEST_RULE} characters")
    optional = bool(source.get("optionalOldSelf"))
    uses_old = "oldSelf" in text and environments.mentions_old(text)
    checked = environments.check(text, optional)
    if checked.issues:
        return Rule(source, uses_old=uses_old, problem="compilation failed: " + "\n".join(checked.issues))
    if checked.kind != "BOOL":
        return Rule(source, uses_old=uses_old, problem="cel expression must evaluate to a bool")
    message = source.get("messageExpression") or ""
    return Rule(
        source,
        environments.program(checked.text, optional),
        _compile_message(message, optional, environments),
        uses_old,
        rule_field(source.get("fieldPath") or "", schema),
    )


def _compile_message(text: str, optional: bool, environments: Any) -> Any:
    if not text or len(text) > LONGEST_RULE:
        return None
    checked = environments.check(text, optional)
    if checked.kind != "STRING" or checked.issues:
        return None
    return environments.program(checked.text, optional)


def rule_field(path: str, schema: Object) -> str:
    """Return the field that a rule's `fieldPath` names, or "" if the schema has no such field."""
    import re

    steps = re.findall(r"\.([^.\[\]]+)|\['((?:[^'\\]|\\.)*)'\]", path)
    field = ""
    for plain, quoted in steps:
        name = plain or quoted
        properties = schema.get("properties")
        if properties is not None:
            if name not in properties:
                return ""
            field = f"{field}.{name}" if field else name
            schema = properties[name]
        elif isinstance(schema.get("additionalProperties"), dict):
            field, schema = f"{field}[{name}]", schema["additionalProperties"]
        else:
            return ""
    return field


def check_rules(
    rules: list[Rule], value: Any, old: Any, schema: Object, declared: Declared, path: str
) -> list[FieldError]:
    """Evaluate the rules of a node; raises OutOfBudget when one takes too long."""
    errors: list[FieldError] = []
    kind = schema.get("type") or ""
    inputs = _inputs_of(value, old, declared)
    for rule in rules:
        if rule.problem:
            errors.append(FieldError(INVALID, path, kind, f"rule compile error: {rule.problem}"))
        elif not rule.uses_old or old is not None or rule.source.get("optionalOldSelf"):
            errors += _evaluate(rule, inputs, value, kind, path, errors)
    return errors


class _Inputs(NamedTuple):
    """What a rule is evaluated on: the variables, and the fields whose values are not of their type."""

    data: Object
    wrong: dict[str, str]


def _inputs_of(value: Any, old: Any, declared: Declared) -> _Inputs:
    wrong: dict[str, str] = {}
    try:
        data = {
            "self": to_cel(value, declared, wrong),
            "oldSelf": None if old is None else to_cel(old, declared, {}),
            "hasOldSelf": old is not None,
        }
    except WrongData as problem:
        return _Inputs({}, {"self": str(problem)})
    return _Inputs(data, wrong)


def _evaluate(
    rule: Rule, inputs: _Inputs, value: Any, kind: str, path: str, before: list[FieldError]
) -> list[FieldError]:
    if not inputs.data:
        return [FieldError(INVALID, path, kind, f"{inputs.wrong['self']} evaluating rule: {rule.title}")]
    outcome, problem = rule.expression.evaluate(inputs.data)
    if problem:
        failure = FieldError(INVALID, path, kind, evaluation_failure(problem, rule.title, inputs.wrong))
        if is_cost(problem):
            raise OutOfBudget([*before, failure])
        return [failure]
    if outcome is True:
        return []
    shown = OMITTED if kind in ("object", "array") else value
    return [_failure(rule, _detail(rule, inputs.data), shown, path)]


def _detail(rule: Rule, data: Object) -> str:
    if rule.message is not None:
        text, problem = rule.message.evaluate(data)
        if not problem and isinstance(text, str):
            text = text.strip()
            if text and "\n" not in text and len(text.encode()) <= LONGEST_MESSAGE:
                return text
    message = rule.source.get("message") or ""
    return message.strip() if message else f"failed rule: {rule.title}"


def _failure(rule: Rule, detail: str, value: Any, path: str) -> FieldError:
    kind = _REASONS.get(rule.source.get("reason") or "", INVALID)
    if rule.field:
        path = f"{path}.{rule.field}" if path else rule.field
    if kind in (REQUIRED, FORBIDDEN):
        return FieldError(kind, path, "", detail)
    return FieldError(kind, path, value, "" if kind == DUPLICATE else detail)
