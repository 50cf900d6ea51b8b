"""One walk over a schema gives the same results as several separate checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crossply.apiserver.apiextensions import structural_validation, validation_effort
from crossply.apiserver.apiextensions.format_warnings import definition_warnings
from crossply.apiserver.apiextensions.schema_survey import Survey, survey
from crossply.values import Object
from crossply.values.bounded_cache import IdentityCache
from tests.support.apiserver.definitions import TEXT, definition, errors_of


def recorded_schemas() -> list[Any]:
    rows = json.loads(Path(__file__).with_name("recorded_definitions.json").read_text())
    versions = [item for row in rows for item in row["spec"].get("versions") or ()]
    schemas = [(item.get("schema") or {}).get("openAPIV3Schema") for item in versions]
    return [schema for schema in schemas if survey(schema).is_plain]


def inside(member: Object) -> Object:
    return {"type": "object", "properties": {"a": member}}


MEMBERS = [
    (TEXT, True, "typed"),
    ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, True, "items"),
    ({"type": "object", "additionalProperties": inside(TEXT)}, True, "a map"),
    ({"description": "x"}, False, "no type"),
    ({"type": "array"}, False, "no items"),
    ({"type": "array", "items": {"description": "x"}}, False, "no type of items"),
    ({"type": "object", "additionalProperties": {"description": "x"}}, False, "no type of values"),
    ({"type": "string", "pattern": "("}, False, "a wrong pattern"),
    ({"type": "string", "anyOf": [{"type": "string"}]}, False, "a type in a branch"),
    ({"type": "object", "x-kubernetes-embedded-resource": True}, False, "no properties of a resource"),
    ({"type": "object", "x-kubernetes-preserve-unknown-fields": False}, False, "not undefined"),
]


@pytest.mark.parametrize(("member", "is_structural", "reason"), MEMBERS)
def test_errors_below_the_root_are_detected(member: Object, is_structural: bool, reason: str) -> None:
    assert survey(inside(member)).is_structural_below_root is is_structural, reason
    assert (errors_of(definition(inside(member))) == []) is is_structural, reason


def test_a_survey_equals_a_full_walk_of_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    schemas = [*recorded_schemas(), *(inside(member) for member, _, _ in MEMBERS)]

    def answers() -> list[object]:
        return [
            (
                structural_validation.unsupported_problem(schema),
                structural_validation.check_structural(schema, "p"),
                validation_effort.check_effort([schema]),
                definition_warnings(definition(schema), None),
            )
            for schema in schemas
        ]

    quick = answers()
    for module in ("structural_validation", "validation_effort", "format_warnings"):
        monkeypatch.setattr(f"crossply.apiserver.apiextensions.{module}.survey", lambda _: Survey())
    assert quick == answers()


def test_levels_are_at_least_those_of_the_schema() -> None:
    assert (survey(inside({"type": "array", "items": TEXT})).levels or 0) >= 5
    deep: Any = "x"
    for _ in range(30):
        deep = [deep]
    assert survey(inside({"type": "array", "default": deep})).levels is None


def test_a_definition_that_nests_too_deep_is_refused() -> None:
    schema: Object = TEXT
    for _ in range(101):
        schema = inside(schema)
    with pytest.raises(Exception, match="exceeded max depth"):
        errors_of(definition(schema))


def test_results_are_cached_by_identity_within_a_bound() -> None:
    computed: list[Object] = []

    def compute(obj: Object) -> int:
        computed.append(obj)
        return len(obj)

    cache = IdentityCache(2_000, compute, lambda _: 100)
    objects: list[Object] = [{"a": 1}, {"a": 1}]
    assert [cache.get(obj) for obj in objects * 2] == [1] * 4
    assert len(computed) == 2  # equal objects are two
    for _ in range(5):
        cache.get({})
    cache.get(objects[0])
    assert len(computed) == 8  # it was dropped
