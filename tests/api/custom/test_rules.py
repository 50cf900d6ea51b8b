"""CEL rules in schemas: x-kubernetes-validations."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import pytest

from tests.support.api.definitions import DEFINITIONS, definition, install, new_group, objects, version

SPEC = {
    "min": {"type": "integer"},
    "max": {"type": "integer"},
    "fixed": {
        "type": "string",
        "maxLength": 20,
        "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "fixed cannot change"}],
    },
    "name": {
        "type": "string",
        "maxLength": 20,
        "x-kubernetes-validations": [
            {
                "rule": "self.startsWith('x')",
                "messageExpression": "'must begin with x, not ' + self.substring(0, 1)",
            }
        ],
    },
    "amount": {
        "type": "string",
        "maxLength": 20,
        "x-kubernetes-validations": [{"rule": "quantity(self).isGreaterThan(quantity('1Gi'))"}],
    },
    "items": {
        "type": "array",
        "maxItems": 10,
        "items": {"type": "string", "maxLength": 10},
        "x-kubernetes-validations": [
            {
                "rule": "self.all(x, x.size() > 1)",
                "message": "items too short",
                "reason": "FieldValueForbidden",
            }
        ],
    },
    "grows": {
        "type": "integer",
        "x-kubernetes-validations": [
            {
                "rule": "!oldSelf.hasValue() || self >= oldSelf.value()",
                "optionalOldSelf": True,
                "message": "no shrinking",
            }
        ],
    },
}


@pytest.fixture(scope="module")
def defined(admin):
    schema_version = version(spec=SPEC)
    schema_version["schema"]["openAPIV3Schema"]["properties"]["spec"]["x-kubernetes-validations"] = [
        {
            "rule": "!has(self.min) || !has(self.max) || self.min <= self.max",
            "message": "min must not exceed max",
            "fieldPath": ".min",
        }
    ]
    body = definition(new_group(), schema_version)
    install(admin, body)
    yield body
    admin.delete(f"{DEFINITIONS}/{body['metadata']['name']}")


@pytest.fixture
def things(admin, ns, defined):
    return objects(admin, defined, ns)


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        (
            {"min": 3, "max": 2},
            {
                "reason": "FieldValueInvalid",
                "message": "Invalid value: min must not exceed max",
                "field": "spec.min",
            },
        ),
        (
            {"name": "abc"},
            {
                "reason": "FieldValueInvalid",
                "message": 'Invalid value: "abc": must begin with x, not a',
                "field": "spec.name",
            },
        ),
        (
            {"amount": "1Mi"},
            {
                "reason": "FieldValueInvalid",
                "message": "Invalid value: \"1Mi\": failed rule: quantity(self).isGreaterThan(quantity('1Gi'))",
                "field": "spec.amount",
            },
        ),
        (
            {"items": ["a"]},
            {"reason": "FieldValueForbidden", "message": "Forbidden: items too short", "field": "spec.items"},
        ),
    ],
    ids=["across fields", "message expression", "quantity library", "reason"],
)
def test_an_invalid_rule_is_reported(things, spec, cause):
    answer = things.post(things.object("one", spec=spec))
    assert answer.status == 422
    assert answer.causes == [cause]


def test_objects_that_keep_the_rules_are_stored(things):
    spec = {"min": 1, "max": 2, "name": "xyz", "amount": "2Gi", "items": ["ab"], "grows": 3, "fixed": "a"}
    assert things.create("one", spec=spec)["spec"] == spec


def test_transition_rules_compare_with_the_old_value(things):
    things.create("one", spec={"fixed": "a"})
    things.merge("one", {"spec": {"min": 1}}).ok(200)
    answer = things.merge("one", {"spec": {"fixed": "b"}})
    assert answer.status == 422
    assert answer.causes == [
        {
            "reason": "FieldValueInvalid",
            "message": 'Invalid value: "b": fixed cannot change',
            "field": "spec.fixed",
        }
    ]


def test_optional_old_values(things):
    things.create("one", spec={"grows": 3})
    things.merge("one", {"spec": {"grows": 4}}).ok(200)
    answer = things.merge("one", {"spec": {"grows": 2}})
    assert [cause["message"] for cause in answer.causes] == ["Invalid value: 2: no shrinking"]


def test_rules_hold_for_apply_too(things):
    answer = things.apply("one", {"spec": {"min": 3, "max": 2}})
    assert answer.status == 422


def with_rule(rule, **more):
    schema_version = version(
        spec={"a": {"type": "string", "x-kubernetes-validations": [{"rule": rule, **more}]}}
    )
    return definition(new_group(), schema_version)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (with_rule("self.size( > 1"), "compilation failed: ERROR: <input>:1:"),
        (with_rule("self.nothing == 1"), "type 'string' does not support field selection"),
        (with_rule("self + 1"), "found no matching overload for '_+_'"),
        (with_rule("1 + 1"), "must evaluate to a bool"),
        (with_rule(""), "rule: Required value: rule is not specified"),
        (with_rule("true", messageExpression="1"), "messageExpression must evaluate to a string"),
        (with_rule("true", reason="Whatever"), 'Unsupported value: "Whatever"'),
    ],
    ids=["syntax", "no such field", "types", "not a bool", "empty", "message not text", "reason"],
)
def test_bad_rules_are_refused_with_their_definition(admin, body, expected):
    answer = admin.post(DEFINITIONS, body)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert expected in answer.message


def test_a_rule_that_may_cost_too_much_is_refused(admin):
    spec = {
        "list": {
            "type": "array",
            "items": {"type": "string"},
            "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, self.all(z, x + y == z)))"}],
        }
    }
    answer = admin.post(DEFINITIONS, definition(new_group(), version(spec=spec)))
    assert answer.status == 422
    assert "estimated rule cost exceeds budget by factor of" in answer.message
