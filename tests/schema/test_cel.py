"""Rules of a schema are evaluated with Kubernetes' types, functions and error texts."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.schema.cel_object_validation import RuleChecker
from crossply.schema.cel_types import escape

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "d": {"type": "number"},
        "s": {"type": "string"},
        "l": {"type": "array", "items": {"type": "integer"}},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "o": {"type": "object", "properties": {"a": {"type": "string"}}},
        "when": {"type": "string", "format": "date-time"},
        "long": {"type": "string", "format": "duration"},
        "raw": {"type": "string", "format": "byte"},
        "port": {"x-kubernetes-int-or-string": True},
        "a-b": {"type": "string"},
        "namespace": {"type": "string"},
    },
}
VALUE = {
    "n": 3,
    "d": 1,
    "s": "abc",
    "l": [1, 3, 2],
    "m": {"k": "v"},
    "when": "2024-01-01T01:00:00Z",
    "long": "1h30m",
    "raw": "YWJj",
    "port": "http",
    "a-b": "x",
    "namespace": "y",
}


def errors(rule: str, value: Any = VALUE, old: Any = None, **more: Any) -> list[str]:
    schema = {"properties": {"spec": {**SCHEMA, "x-kubernetes-validations": [{"rule": rule, **more}]}}}
    problems = RuleChecker(schema | {"type": "object"}).check({"spec": value}, old and {"spec": old})
    return [str(error) for error in problems]


HOLDS = [
    "self.n == 3 && self.n < 3.5",
    "self.d == 1.0",
    "self.l.all(x, x > 0) && self.l.exists_one(x, x == 2)",
    "!has(self.o)",
    "self.?o.?a.orValue('none') == 'none'",
    "self.when < timestamp('2025-01-01T00:00:00Z')",
    "self.long == duration('90m')",
    "self.raw == b'abc'",
    "type(self.port) == string",
    "self.a__dash__b == 'x' && self.__namespace__ == 'y'",
    "self.m.all(k, self.m[k] == 'v')",
    "!self.l.isSorted() && self.l.sum() == 6 && self.l.min() == 1 && self.l.max() == 3",
    "self.l.sort() == [1, 2, 3] && [1, 1].distinct() == [1] && [[1], [2]].flatten() == [1, 2]",
    "self.l.indexOf(3) == 1 && [1, 2, 1].lastIndexOf(1) == 2 && self.l.indexOf(9) == -1",
    "size(self.l) < 4.5 && 1 < 1.5 && (2.5 > 1 ? 1u : 2u) <= 1.0 && self.l.indexOf(3) >= 0.5 // < 5u",
    "'abc'.indexOf('c') == 2 && [1, 2].reverse() == [2, 1] && self.s.reverse() == 'cba'",
    "string(ip('::0001')) == '::1' && string(cidr('10.0.0.0/8')) == '10.0.0.0/8' && string(1) == '1'",
    "lists.range(3) == [0, 1, 2] && self.l.slice(1, 2) == [3]",
    "sets.contains(self.l, [1, 2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])",
    "quantity('1Gi') == quantity('1024Mi') && quantity('1').isLessThan(quantity('2'))",
    "quantity('1500m').asApproximateFloat() == 1.5 && !quantity('1500m').isInteger()",
    "quantity('1k').add(quantity('1')).asInteger() == 1001 && quantity('1k').sub(1).asInteger() == 999",
    "isQuantity('1Mi') && !isQuantity('1x') && sign(quantity('-1')) == -1",
    "ip('10.0.0.1').family() == 4 && ip('::1').isLoopback() && !isIP('10.0.0')",
    "cidr('10.1.2.3/8').containsIP('10.9.9.9') && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
    "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.0.0.0/8').prefixLength() == 8",
    "url('https://u@h.x:80/a%20b?q=1&q=2').getHostname() == 'h.x' && isURL('/a') && !isURL('a')",
    "url('https://h.x:80/a%20b?q=1').getEscapedPath() == '/a%20b' && url('http://h:1/').getPort() == '1'",
    "'a1b2'.findAll('[0-9]') == ['1', '2'] && 'a1b2'.find('[0-9]') == '1'",
    "'a1b2'.findAll('[0-9]', 1) == ['1'] && 'a'.find('[0-9]') == ''",
    "semver('1.2.3').isGreaterThan(semver('1.2.3-rc.1')) && semver('v1.2', true).minor() == 2",
    "'a,b'.split(',').join('-') == 'a-b' && '%s is %d'.format(['x', 1]) == 'x is 1'",
    "",
]


@pytest.mark.parametrize("rule", HOLDS)
def test_a_passing_rule_has_no_message(rule):
    assert errors(rule) == []


FAILS = [
    ("self.n > 5", "spec: Invalid value: failed rule: self.n > 5"),
    ("self.n / 0 == 1", 'spec: Invalid value: "object": division by zero evaluating rule: self.n / 0 == 1'),
    ("self.o.a == ''", "spec: Invalid value: \"object\": no such key: o evaluating rule: self.o.a == ''"),
    (
        "self.l[9] == 0",
        'spec: Invalid value: "object": index out of bounds: 9 evaluating rule: self.l[9] == 0',
    ),
    (
        "self.port < 5",
        "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported "
        "operator, function or macro signature for rule: self.port < 5",
    ),
    (
        "[].min() == 1",
        'spec: Invalid value: "object": min called on empty list evaluating rule: [].min() == 1',
    ),
    (
        "self.zz == 1",
        'spec: Invalid value: "object": rule compile error: compilation failed: '
        "ERROR: <input>:1:5: undefined field 'zz'\n | self.zz == 1\n | ....^",
    ),
    (
        "self.s == 1",
        'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:8: found no '
        "matching overload for '_==_' applied to '(string, int)'\n | self.s == 1\n | .......^",
    ),
    (
        "other.x == 1",
        'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:1: '
        "undeclared reference to 'other' (in container '')\n | other.x == 1\n | ^",
    ),
    (
        "self.s.matches('[')",
        'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:16: invalid '
        "matches argument\n | self.s.matches('[')\n | ...............^",
    ),
    ("self.n", 'spec: Invalid value: "object": rule compile error: cel expression must evaluate to a bool'),
]


@pytest.mark.parametrize(("rule", "expected"), FAILS)
def test_a_failing_rule_has_a_reason(rule, expected):
    assert errors(rule) == [expected]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"message": " too small "}, "spec: Invalid value: too small"),
        ({"messageExpression": "'n is ' + string(self.n)"}, "spec: Invalid value: n is 3"),
        ({"messageExpression": "self.nothing", "message": "plan B"}, "spec: Invalid value: plan B"),
        ({"messageExpression": "'two\\nlines'"}, "spec: Invalid value: failed rule: self.n > 5"),
        ({"fieldPath": ".n"}, "spec.n: Invalid value: failed rule: self.n > 5"),
        ({"fieldPath": ".nothing"}, "spec: Invalid value: failed rule: self.n > 5"),
        ({"reason": "FieldValueRequired"}, "spec: Required value: failed rule: self.n > 5"),
        ({"reason": "FieldValueForbidden"}, "spec: Forbidden: failed rule: self.n > 5"),
        ({"reason": "FieldValueDuplicate"}, "spec: Duplicate value"),
    ],
)
def test_a_rule_can_have_its_own_message(more, expected):
    assert errors("self.n > 5", **more) == [expected]


def test_a_transition_rule_needs_two_objects():
    assert errors("self.n == oldSelf.n") == []
    assert errors("self.n == oldSelf.n", old={"n": 3}) == []
    assert errors("self.n == oldSelf.n", old={"n": 4}, message="immutable") == [
        "spec: Invalid value: immutable"
    ]
    assert errors("self.s != 'oldSelf'", {"s": "oldSelf"}) != [], "a text is not a variable"


def test_an_optional_old_object_can_be_tested():
    rule = "oldSelf.hasValue() ? oldSelf.value().n == 4 : self.n == 1"
    assert errors(rule, optionalOldSelf=True) != []
    assert errors(rule, {"n": 1}, optionalOldSelf=True) == []
    assert errors(rule, old={"n": 4}, optionalOldSelf=True) == []
    wrong = errors("oldSelf.zz.hasValue()", optionalOldSelf=True)[0]
    assert "ERROR: <input>:1:" in wrong
    assert "cel.bind" not in wrong, "only what the author wrote is shown"


def test_items_of_a_map_list_are_compared_by_their_keys():
    item = {
        "type": "object",
        "properties": {"k": {"type": "string"}, "v": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "self.v >= oldSelf.v"}],
    }
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    checker = RuleChecker({"type": "object", "properties": {"l": {"type": "array", "items": item, **keys}}})
    problems = checker.check(
        {"l": [{"k": "a", "v": 1}, {"k": "b", "v": 5}, {"k": "c", "v": 0}]},
        {"l": [{"k": "b", "v": 3}, {"k": "a", "v": 4}]},
    )
    assert [error.path for error in problems] == ["l[0]"]


def test_rules_of_scalars_maps_and_all_of_are_evaluated():
    small = {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 2"}]}
    schema = {
        "type": "object",
        "properties": {"n": small, "m": {"type": "object", "additionalProperties": small}},
        "allOf": [{"x-kubernetes-validations": [{"rule": "self.n > 100"}]}],
    }
    problems = [str(error) for error in RuleChecker(schema).check({"n": 3, "m": {"k": 9, "j": 1}})]
    assert problems == [
        "<nil>: Invalid value: failed rule: self.n > 100",
        "m[k]: Invalid value: 9: failed rule: self < 2",
        "n: Invalid value: 3: failed rule: self < 2",
    ]
    with_rule = {**schema, "x-kubernetes-validations": [{"rule": "self.metadata.name == 'a'"}]}
    assert [error.path for error in RuleChecker(with_rule).check({"n": 1, "metadata": {"name": "a"}})] == [""]


def test_a_value_of_the_wrong_type_disturbs_only_rules_that_ask_for_it():
    value = {"n": "three", "s": "abc"}
    assert errors("self.s == 'abc'", value) == []
    assert errors("self.n > 1", value) == [
        'spec: Invalid value: "object": invalid data, expected int, got string evaluating rule: self.n > 1'
    ]


def test_a_rule_that_takes_too_long_is_stopped():
    value = {"l": list(range(2000))}
    rule = "self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))"
    problems = errors(rule, value)
    assert len(problems) == 1
    assert "cost exceeds limit" in problems[0]
    assert "longer than" in errors("true" + " || true" * 20_000)[0]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("in", "__in__"),
        ("a.b", "a__dot__b"),
        ("a__b", "a__underscores__b"),
        ("x/y", "x__slash__y"),
        ("1a", None),
        ("é", None),
        ("", None),
    ],
)
def test_names_are_escaped(name, written):
    assert escape(name) == written
