"""Bounds the work of validating a definition: hostile ones are refused before it is done.

Schemas are walked and their rules compiled while the client waits. Ordinary definitions are far below the
limits; what takes longer than about a second is refused at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.apiserver.apiextensions.schema_survey import RULES, Survey, survey
from crossply.apiserver.apiextensions.structural_validation import children
from crossply.apiserver.event_loop_offloading import HEAVY_BYTES, leave_event_loop
from crossply.schema.field_errors import FORBIDDEN, FieldError
from crossply.values import Object

MOST_SCHEMAS = 100_000
MOST_RULE_EFFORT = 20_000
WIDEST = 4_000
"""The most properties that an object with rules may have; the evaluator supports no more."""

_BYTES_PER_EFFORT = 128
"""How many bytes of JSON are as much work: one part of effort takes about 50 microseconds."""
_PER_TYPE, _PER_RULE, _PER_DEFAULT = 40, 15, 120


def check_effort(schemas: list[Object | None]) -> list[FieldError]:
    """Refuse schemas that are too expensive to validate."""
    present = [schema for schema in schemas if schema is not None]
    surveys = list(map(survey, present))
    if _is_certainly_cheap(surveys):
        leave_event_loop(_most_rule_effort(surveys) * _BYTES_PER_EFFORT)
        return []
    leave_event_loop(HEAVY_BYTES)
    effort = _Effort()
    for schema in present:
        effort.measure(schema)
    details = []
    if effort.schemas > MOST_SCHEMAS:
        details.append(f"must have at most {MOST_SCHEMAS} schemas in all, but has {effort.schemas}")
    if effort.rules > MOST_RULE_EFFORT:
        details.append(f"too many or too long {RULES}, or about too large parts of the schema")
    if effort.widest > WIDEST:
        details.append(f"{RULES} cannot be about objects of more than {WIDEST} properties")
    return [FieldError(FORBIDDEN, "spec.versions", "", detail) for detail in details]


def _is_certainly_cheap(surveys: list[Survey]) -> bool:
    """Whether the limits hold even if each rule and each default were about its whole schema."""
    if not all(known.is_plain for known in surveys):
        return False
    rules = _most_rule_effort(surveys)
    widest = max((known.widest for known in surveys), default=0)
    schemas = sum(known.schemas for known in surveys)
    return schemas <= MOST_SCHEMAS and rules <= MOST_RULE_EFFORT and widest <= WIDEST


def _most_rule_effort(surveys: list[Survey]) -> int:
    """The effort if each rule and each default were about its whole schema."""
    effort = 0
    for known in surveys:
        effort += known.defaults * (_PER_DEFAULT + known.schemas) if known.with_rules else 0
        effort += len(known.with_rules) * (_PER_TYPE + known.schemas)
        effort += sum(_cost_of_texts(schema[RULES]) for schema in known.with_rules)
    return effort


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
        rules = schema.get(RULES)
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
        self.rules += _cost_of_texts(rules)


def _cost_of_texts(rules: list[Object]) -> int:
    lengths = [len(rule.get("rule") or "") + len(rule.get("messageExpression") or "") for rule in rules]
    return sum(_PER_RULE + length // 4 for length in lengths)
