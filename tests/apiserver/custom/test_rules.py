"""Rules in schemas: they compile, and what they may cost is what Kubernetes reckons, to the last digit."""

from __future__ import annotations

import json
import os

import pytest

from crossply.values import Object
from tests.support.apiserver.definitions import NUMBER, TEXT, definition, errors_of, field_errors


def recorded() -> Object:
    path = os.path.join(os.path.dirname(__file__), "recorded_rules.json")
    with open(path, encoding="utf-8") as file:
        result: Object = json.load(file)
    return result


RECORDED = recorded()


@pytest.mark.parametrize("row", [pytest.param(row, id=row["rule"]) for row in RECORDED["rules"]])
def test_a_rule_costs_the_same_as_in_kubernetes(row: Object) -> None:
    schema = {**RECORDED["schema"], "x-kubernetes-validations": [{"rule": row["rule"]}]}
    terminating: dict[str, Object] = {
        "once": schema,
        "often": {"type": "array", "items": schema},
        "bounded": {"type": "array", "maxItems": 100, "items": schema},
    }
    for key, inner in terminating.items():
        result = errors_of(definition({"type": "object", "properties": {"w": inner}}))
        assert sorted(result) == sorted(row[key]), f"the data is there {key}"


def ruled(schema: Object, **rule: object) -> list[str]:
    return field_errors({**schema, "x-kubernetes-validations": [{"rule": "true", **rule}]})


@pytest.mark.parametrize(
    ("rule", "expected", "reason"),
    [
        ({"rule": " "}, "rule: Required value: rule is not specified", "no rule at all"),
        ({"message": " "}, 'message: Invalid value: " ": must be non-empty if specified', "nothing said"),
        (
            {"message": "a\nb"},
            'message: Invalid value: "a\\nb": must not contain line breaks',
            "a message is one line",
        ),
        (
            {"rule": "true &&\ntrue"},
            "message: Required value: message must be specified if rule contains line breaks",
            "the rule cannot stand for the message",
        ),
        (
            {"reason": "Whim"},
            'reason: Unsupported value: "Whim": supported values: "FieldValueDuplicate", '
            '"FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
            "reasons are four",
        ),
        (
            {"fieldPath": ".nowhere"},
            'fieldPath: Invalid value: ".nowhere": must be a valid path',
            "blame what is there",
        ),
        (
            {"optionalOldSelf": True},
            "optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule",
            "it says nothing then",
        ),
    ],
)
def test_the_fields_around_a_rule_are_checked(rule: Object, expected: str, reason: str) -> None:
    schema = {"type": "object", "properties": {"a": TEXT}}
    assert ruled(schema, **rule) == [f"f.x-kubernetes-validations[0].{expected}"], reason


def test_a_message_expression_must_be_a_text() -> None:
    (error,) = ruled(NUMBER, messageExpression="self + 1")
    assert error.endswith(": messageExpression must evaluate to a string")
    (error,) = ruled(NUMBER, messageExpression="self.nope")
    assert ": messageExpression compilation failed: ERROR: <input>:1:5:" in error
    assert ruled(NUMBER, messageExpression="string(self)") == []


def test_old_items_of_a_list_without_keys_cannot_be_correlated() -> None:
    rules = [{"rule": "self == oldSelf"}]
    items = {**TEXT, "x-kubernetes-validations": rules}
    (error,) = field_errors({"type": "array", "items": items, "maxItems": 3})
    assert error.startswith(
        'f.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used '
        "on the uncorrelatable portion of the schema within f"
    )


def test_an_optional_old_value_has_the_methods_of_one() -> None:
    rule = "!oldSelf.hasValue() || oldSelf.value() <= self"
    assert ruled(NUMBER, rule=rule, optionalOldSelf=True) == []
    (error,) = ruled(NUMBER, rule=rule)
    assert "compilation failed" in error


@pytest.mark.parametrize("rule", ["self.sum() + self.sum() > 0", "(self.max() + self.min()) % 2 == 0"])
def test_a_sum_of_a_list_of_numbers_is_a_number_and_not_a_long_string(rule: str) -> None:
    numbers = {"type": "array", "maxItems": 1000, "items": NUMBER}
    assert ruled(numbers, rule=rule) == []
