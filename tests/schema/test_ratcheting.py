"""Old mistakes do not keep an object from being changed; new ones do."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.schema.cel_object_validation import RuleChecker
from crossply.schema.ratcheting import new_errors
from crossply.schema.validation import validate

ONLY_GOOD = {"type": "string", "enum": ["good"]}
HOLDER = {"type": "object", "properties": {"field": ONLY_GOOD, "other": {"type": "string"}}}
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "field": ONLY_GOOD}},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "field": ONLY_GOOD,
        "struct": HOLDER,
        "map": {"type": "object", "additionalProperties": HOLDER},
        "keyed": KEYED,
        "list": {"type": "array", "items": HOLDER},
        "needy": {"type": "object", "required": ["gone"], "properties": {"gone": ONLY_GOOD}},
    },
}
BAD = {"field": "bad"}


@pytest.mark.parametrize(
    ("old", "new", "blamed"),
    [
        pytest.param({"field": "bad"}, {"field": "bad", "x": 1}, [], id="the value stayed"),
        pytest.param({"field": "good"}, {"field": "bad"}, ["field"], id="the value became bad"),
        pytest.param({}, {"field": "bad"}, ["field"], id="the value is new"),
        pytest.param(
            {"struct": BAD}, {"struct": {**BAD, "other": "x"}}, [], id="something beside it changed"
        ),
        pytest.param({"map": {"a.b": BAD}}, {"map": {"a.b": BAD, "c": {}}}, [], id="a key with a dot"),
        pytest.param({"map": {"a": BAD}}, {"map": {"b": BAD}}, ["map.b.field"], id="another key"),
        pytest.param(
            {"keyed": [{"name": "a", **BAD}]},
            {"keyed": [{"name": "b"}, {"name": "a", **BAD}]},
            [],
            id="an item with a key is found again",
        ),
        pytest.param({"list": [BAD]}, {"list": [BAD], "x": 1}, [], id="the whole list stayed"),
        pytest.param(
            {"list": [BAD]},
            {"list": [BAD, {}]},
            ["list[0].field"],
            id="items without keys are not found again",
        ),
        pytest.param({"needy": {}}, {"needy": {}, "x": 1}, [], id="what is missing was missing"),
        pytest.param(
            {"needy": {"gone": "good"}}, {"needy": {}}, ["needy.gone"], id="what is missing was there"
        ),
    ],
)
def test_an_update_is_refused_for_its_own_errors_only(
    old: dict[str, Any], new: dict[str, Any], blamed: list[str]
) -> None:
    problems = validate(new, SCHEMA)
    assert problems, "the new object is not valid"
    assert [error.field for error in new_errors(problems, new, old, SCHEMA)] == blamed


def ruled(*rules: dict[str, Any]) -> RuleChecker:
    field = {"type": "string", "x-kubernetes-validations": list(rules)}
    items = {"type": "object", "properties": {"field": field}}
    properties = {"field": field, "list": {"type": "array", "items": items}}
    return RuleChecker({"type": "object", "properties": properties})


def test_rules_about_unchanged_values_are_not_evaluated() -> None:
    rules = ruled({"rule": "self == 'good'"})
    old = {"field": "bad", "list": [BAD]}
    assert rules.check_change({**old, "x": 1}, old) == []
    changed = {"field": "worse", "list": [BAD, BAD]}
    assert [error.field for error in rules.check_change(changed, old)] == [
        "field",
        "list[0].field",
        "list[1].field",
    ]


def test_transition_rules_are_always_evaluated() -> None:
    rules = ruled({"rule": "self != oldSelf"})
    assert [error.field for error in rules.check_change({"field": "a", "x": 1}, {"field": "a"})] == ["field"]


def test_without_ratcheting_every_rule_is_evaluated() -> None:
    rules = ruled({"rule": "self == 'good'"})
    assert [error.field for error in rules.check({"field": "bad"}, {"field": "bad"})] == ["field"]
