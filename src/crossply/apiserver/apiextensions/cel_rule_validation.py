"""Validates x-kubernetes-validations: the texts of the rules, whether they compile, and their costs."""

from __future__ import annotations

import re
from typing import NamedTuple

from crossply.apiserver.apiextensions.cel_rule_compiler import Compiled, RuleCompiler
from crossply.apiserver.apiextensions.cel_size_estimates import MOST, Sized, most_repetitions, product
from crossply.apiserver.apiextensions.field_path_resolution import BadPath, find_field
from crossply.apiserver.apiextensions.go_printing import invalid_struct, show_rule
from crossply.schema.cel_types import words_in
from crossply.schema.field_errors import FORBIDDEN, INVALID, OMITTED, REQUIRED, FieldError, unsupported
from crossply.values import Object

RULE_LIMIT, TOTAL_LIMIT = 10_000_000, 100_000_000

_RULES = "x-kubernetes-validations"
_REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"]
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and "
    "strings are declared)"
)


class Scope(NamedTuple):
    """A schema that rules may apply to, and how often its data can occur in one object."""

    schema: Object
    repeats: int | None
    """None if a list or map above it is unbounded."""
    is_resource: bool

    @staticmethod
    def of_root(schema: Object) -> Scope:
        """The scope of the root object."""
        return Scope(schema, 1, True)

    def member(self, schema: Object, name: str | None) -> Scope:
        """The scope of a property, or of the items or additional properties (no name)."""
        most = self._most_members()
        repeats = None if self.repeats is None or most is None else product(self.repeats, most)
        return Scope(schema, repeats, bool(schema.get("x-kubernetes-embedded-resource")))

    def _most_members(self) -> int | None:
        kind = self.schema.get("type")
        if kind == "array":
            most = self.schema.get("maxItems")
        elif kind == "object" and self.schema.get("additionalProperties") is not None:
            most = self.schema.get("maxProperties")
        else:
            return 1
        return None if most is None else max(most, 0)


class Totals:
    """The total cost of all rules of a schema, and the most expensive ones."""

    __slots__ = ("_dearest", "_total")

    def __init__(self) -> None:
        self._total = 0
        self._dearest: list[tuple[int, str]] = []

    def observe(self, path: str, cost: int) -> None:
        self._total = min(self._total + cost, MOST)
        if cost >= TOTAL_LIMIT // 100:
            self._dearest.append((cost, path))
            self._dearest.sort(key=lambda entry: -entry[0])
            del self._dearest[4:]

    def errors(self, path: str) -> list[FieldError]:
        """The errors of a total that is too high."""
        if self._total <= TOTAL_LIMIT:
            return []
        detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        errors = [FieldError(FORBIDDEN, dear, "", detail) for _, dear in self._dearest]
        message = _too_expensive(
            f"{_RULES} estimated rule cost total for entire OpenAPIv3 schema", self._total, TOTAL_LIMIT
        )
        return [*errors, FieldError(FORBIDDEN, path, "", message)]


def check_rule_texts(schema: Object, path: str) -> list[FieldError]:
    """Validate the rules of a schema before they are compiled."""
    errors = []
    for index, rule in enumerate(schema[_RULES]):
        errors += _check_texts(rule, schema, f"{path}.{_RULES}[{index}]")
    return errors


def _check_texts(rule: Object, schema: Object, path: str) -> list[FieldError]:
    errors = _check_message(rule, path)
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip():
        detail = "messageExpression must be non-empty if specified"
        errors.append(FieldError(REQUIRED, f"{path}.messageExpression", "", detail))
    reason = rule.get("reason")
    if reason is not None and reason not in _REASONS:
        errors.append(unsupported(f"{path}.reason", reason, _REASONS))
    field = rule.get("fieldPath") or ""
    if field and not field.strip():
        errors.append(FieldError(INVALID, f"{path}.fieldPath", field, "must be non-empty if specified"))
    if _has_line_breaks(field):
        errors.append(FieldError(INVALID, f"{path}.fieldPath", field, "must not contain line breaks"))
    if field and not _leads_somewhere(field, schema):
        errors.append(FieldError(INVALID, f"{path}.fieldPath", field, "must be a valid path"))
    return errors


def _check_message(rule: Object, path: str) -> list[FieldError]:
    text, message = rule.get("rule") or "", rule.get("message") or ""
    if not text.strip():
        return [FieldError(REQUIRED, f"{path}.rule", "", "rule is not specified")]
    if message and not message.strip():
        return [FieldError(INVALID, f"{path}.message", message, "must be non-empty if specified")]
    if _has_line_breaks(message.strip()):
        return [FieldError(INVALID, f"{path}.message", message, "must not contain line breaks")]
    if _has_line_breaks(text.strip()) and not message.strip():
        detail = "message must be specified if rule contains line breaks"
        return [FieldError(REQUIRED, f"{path}.message", "", detail)]
    return []


def _has_line_breaks(text: str) -> bool:
    return re.search(r"[\n\r]", text) is not None


def _leads_somewhere(field: str, schema: Object) -> bool:
    try:
        find_field(field, schema)
    except BadPath:
        return False
    return True


def check_rules(
    schema: Object, scope: Scope, path: str, uncorrelatable: str, totals: Totals
) -> list[FieldError]:
    """Compile and validate the rules of a schema that is otherwise valid."""
    rules: list[Object] = schema[_RULES]
    expressions = [rule.get(key) or "" for rule in rules for key in ("rule", "messageExpression")]
    names = words_in(*expressions)
    compiler = RuleCompiler(schema, scope.is_resource, names)
    if not compiler.has_type or compiler.size is None:
        detail = (
            f"internal error: failed to construct type information for {_RULES} rules: unable to convert "
            "structural schema to CEL declarations"
        )
        return [FieldError(INVALID, f"{path}.{_RULES}", OMITTED, detail)]
    errors = []
    for index, rule in enumerate(rules):
        check = _RuleCheck(rule, f"{path}.{_RULES}[{index}]", scope, compiler.size, totals)
        errors += check.errors(compiler, uncorrelatable)
    return errors


class _RuleCheck(NamedTuple):
    """One rule to validate."""

    rule: Object
    path: str
    scope: Scope
    size: Sized
    totals: Totals

    def errors(self, compiler: RuleCompiler, uncorrelatable: str) -> list[FieldError]:
        optional = bool(self.rule.get("optionalOldSelf"))
        compiled = compiler.compile(self.rule["rule"], optional)
        problem = _problem(compiled, "BOOL", "compilation failed: ", "cel expression must evaluate to a bool")
        errors = self._check_cost(compiled, problem)
        if problem:
            errors.append(invalid_struct(f"{self.path}.rule", show_rule(self.rule), problem))
        elif self.rule.get("messageExpression"):
            errors += self._check_message(compiler, optional)
        return errors + self._check_old(not problem and compiled.uses_old, uncorrelatable)

    def _check_cost(self, compiled: Compiled, problem: str) -> list[FieldError]:
        cost = 0
        if not problem:
            times = most_repetitions(self.size) if self.scope.repeats is None else self.scope.repeats
            cost = product(compiled.cost, times)
        self.totals.observe(f"{self.path}.rule", cost)
        if cost <= RULE_LIMIT:
            return []
        message = _too_expensive("estimated rule cost", cost, RULE_LIMIT)
        return [FieldError(FORBIDDEN, f"{self.path}.rule", "", message)]

    def _check_message(self, compiler: RuleCompiler, optional: bool) -> list[FieldError]:
        path = f"{self.path}.messageExpression"
        compiled = compiler.compile(self.rule["messageExpression"], optional)
        problem = _problem(
            compiled,
            "STRING",
            "messageExpression compilation failed: ",
            "messageExpression must evaluate to a string",
        )
        if problem:
            return [invalid_struct(path, show_rule(self.rule), problem)]
        self.totals.observe(path, compiled.cost)
        if compiled.cost <= RULE_LIMIT:
            return []
        message = _too_expensive("estimated messageExpression cost", compiled.cost, RULE_LIMIT)
        return [FieldError(FORBIDDEN, path, "", message)]

    def _check_old(self, uses_old: bool, uncorrelatable: str) -> list[FieldError]:
        if uses_old:
            if not uncorrelatable:
                return []
            detail = (
                f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelatable}"
            )
            return [FieldError(INVALID, f"{self.path}.rule", self.rule["rule"], detail)]
        optional = self.rule.get("optionalOldSelf")
        if optional is None:
            return []
        detail = "may not be set if oldSelf is not used in rule"
        return [FieldError(INVALID, f"{self.path}.optionalOldSelf", optional, detail)]


def _problem(compiled: Compiled, kind: str, prefix: str, wrong_kind: str) -> str:
    if compiled.issues:
        return prefix + "\n".join(compiled.issues)
    return "" if compiled.kind == kind else wrong_kind


def _too_expensive(subject: str, cost: int, limit: int) -> str:
    factor = cost / limit
    if factor > 100:
        shown = "more than 100x"
    elif factor < 1.5:
        shown = f"{factor:.6f}x"
    else:
        shown = f"{factor:.1f}x"
    return f"{subject} exceeds budget by factor of {shown} {_ADVICE}"
