"""Bounds the work of validating a definition: hostile ones are refused before it is done.

Schemas are walked and their rules compiled while the client waits. Ordinary definitions are far below the
limits; what takes longer than about a second is refused at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.apiserver.apiextensions.structural_validation import children
from crossply.schema.field_errors import FORBIDDEN, FieldError
from crossply.values import Object

MOST_SCHEMAS = 100_000
MOST_RULE_EFFORT = 20_000
WIDEST = 4_000
"""The most properties that an object with rules may have; the evaluator supports no more."""

_PER_TYPE, _PER_RULE, _PER_DEFAULT = 40, 15, 120
_RULES = "x-kubernetes-validations"


def check_effort(schemas: list[Object | None]) -> list[FieldError]:
    """Refuse schemas that are too expensive to validate."""
    effort = _Effort()
    for schema in schemas:
        if schema is not None:
            effort.measure(schema)
    details = []
    if effort.schemas > MOST_SCHEMAS:
        details.append(f"must have at most {MOST_SCHEMAS} schemas in all, but has {effort.schemas}")
    if effort.rules > MOST_RULE_EFFORT:
        details.append(f"too many or too long {_RULES}, or about too large parts of the schema")
    if effort.widest > WIDEST:
        details.append(f"{_RULES} cannot be about objects of more than {WIDEST} properties")
    return [FieldError(FORBIDDEN, "spec.versions", "", detail) for detail in details]


class _Measure(NamedTuple):
    """The number of schemas, the most properties of one, and whether any has rules."""

    extent: int
    widest: int
    has_rules: bool


class _Effort:
    __slots__ = ("_counted_types", "rules", "schemas", "widest")

    def __init__(self) -> None:
        self.schemas = self.rules = self.widest = 0
        self._counted_types: set[Any] = set()

    def measure(self, schema: Object) -> _Measure:
        extent, widest, has_rules = 1, len(schema.get("properties") or ()), False
        for below in children(schema):
            inner = self.measure(below)
            extent += inner.extent
            widest = max(widest, inner.widest)
            has_rules = has_rules or inner.has_rules
        self.schemas += 1
        rules = schema.get(_RULES)
        if rules:
            self.widest = max(self.widest, widest)
            self._count_rules(schema, rules, extent)
        if "default" in schema and (rules or has_rules):
            self.rules += _PER_DEFAULT + extent
        return _Measure(extent, widest, bool(rules) or has_rules)

    def _count_rules(self, schema: Object, rules: list[Object], extent: int) -> None:
        kind = (schema.get("type"), schema.get("format"))
        if extent > 1 or kind not in self._counted_types:
            self.rules += _PER_TYPE + extent
            self._counted_types.add(kind)
        for rule in rules:
            length = len(rule.get("rule") or "") + len(rule.get("messageExpression") or "")
            self.rules += _PER_RULE + length // 4
