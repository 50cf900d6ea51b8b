"""function-cel-filter: what filters remove, what validations find, and that no expression does harm."""

from __future__ import annotations

import time
from typing import Any

import pytest

from crossply.compose.function_messages import (
    READY_TRUE,
    SEVERITY_FATAL,
    SEVERITY_WARNING,
    Request,
    Resource,
    Response,
    State,
)
from crossply.functions.builtin.cel_filter.function import run
from crossply.values.protobuf_struct import to_wire

XR = to_wire({"spec": {"widgets": 42, "many": list(range(1000)), "text": "x" * 100}})
GENEROUS = 25.0
"""How long the machine may take for what is stopped after ten seconds."""


def answered(**function_input: Any) -> Response:
    desired = {
        "bucket": Resource({"kind": "Bucket", "metadata": {"name": "b"}}, {}, READY_TRUE),
        "bucket-policy": Resource({"kind": "Policy"}),
        "user": Resource({"kind": "User"}),
    }
    observed = State(Resource(XR, {"password": b"secret"}), {"user": Resource({"status": {"id": "7"}})})
    request = Request(
        observed, State(None, desired), input=function_input, context={"zone": "north"}, tag="t"
    )
    return run(request)


def remaining_names(name: str, expression: str) -> list[str]:
    answer = answered(filters=[{"name": name, "expression": expression}])
    assert answer.results == ()
    assert answer.desired is not None
    return sorted(answer.desired.resources)


@pytest.mark.parametrize(
    ("name", "expression", "expected", "reason"),
    [
        (
            "bucket",
            "observed.composite.resource.spec.widgets == 42",
            "bucket bucket-policy user",
            "true keeps",
        ),
        ("bucket", "observed.composite.resource.spec.widgets != 42", "bucket-policy user", "false removes"),
        ("bucket.*", "false", "user", "a name is a pattern"),
        ("buck", "false", "bucket bucket-policy user", "of the whole name"),
        ("nobody", "false", "bucket bucket-policy user", "that may match nothing"),
        ("user", "'user' in observed.resources", "bucket bucket-policy user", "observed resources"),
        (
            "user",
            "observed.resources.user.resource.status.id == '7'",
            "bucket bucket-policy user",
            "by field",
        ),
        (
            "user",
            "has(observed.composite.resource.spec.nothing)",
            "bucket bucket-policy",
            "a field that is not",
        ),
        ("user", "context.zone == 'south'", "bucket bucket-policy", "the context"),
        ("user", "desired.resources.bucket.ready == 1", "bucket bucket-policy user", "readiness"),
        (
            "user",
            "desired.resources.bucket.ready == apiextensions.fn.proto.v1.Ready.READY_TRUE",
            "bucket bucket-policy user",
            "readiness by name",
        ),
        ("user", "has(desired.composite)", "bucket bucket-policy", "no step has set the desired composite"),
        ("user", "has(observed.composite)", "bucket bucket-policy user", "the observed composite is there"),
        ("user", "has(desired.resources.user.ready)", "bucket bucket-policy", "readiness is not set"),
        ("user", "desired.composite.resource == {}", "bucket bucket-policy user", "absent is empty"),
        (
            "user",
            "observed.composite.connection_details.password == b'secret'",
            "bucket bucket-policy user",
            "bytes are bytes",
        ),
        ("user", "'a,b'.split(',').size() == 2", "bucket bucket-policy user", "the strings extension"),
        ("user", "base64.encode(b'a') == 'YQ=='", "bucket bucket-policy user", "the encoders extension"),
        ("user", "math.greatest(1, 2) == 2", "bucket bucket-policy user", "the math extension"),
        ("user", "optional.of(1).hasValue()", "bucket bucket-policy user", "optional types"),
    ],
)
def test_filters_remove_resources(name: str, expression: str, expected: str, reason: str) -> None:
    assert remaining_names(name, expression) == expected.split(), reason


def test_every_filter_that_names_a_resource_must_keep_it() -> None:
    filters = [{"name": "user", "expression": "true"}, {"name": ".*r", "expression": "false"}]
    answer = answered(filters=filters)
    assert answer.desired is not None
    assert sorted(answer.desired.resources) == ["bucket", "bucket-policy"]
    assert answer.desired.resources["bucket"].ready == READY_TRUE


def test_validations_run_on_the_request_or_on_every_resource() -> None:
    answer = answered(
        validations=[
            {"expression": "observed.composite.resource.spec.widgets < 10", "message": "too many widgets"},
            {"name": "b.*", "expression": "has(resource.metadata)", "severity": "Warning"},
            {
                "name": ".*",
                "expression": "resource.kind != 'User'",
                "messageExpression": "name + ' is a user'",
            },
            {"expression": "true"},
        ]
    )
    assert [(result.severity, result.message) for result in answer.results] == [
        (SEVERITY_FATAL, "too many widgets"),
        (SEVERITY_WARNING, 'resource "bucket-policy": failed validation: has(resource.metadata)'),
        (SEVERITY_FATAL, 'resource "user": user is a user'),
    ]


def test_a_message_that_has_no_value_falls_back_to_the_plain_one() -> None:
    validation = {"expression": "false", "message": "plain", "messageExpression": "context.nothing.at.all"}
    assert [result.message for result in answered(validations=[validation]).results] == ["plain"]


@pytest.mark.parametrize(
    ("function_input", "problem", "reason"),
    [
        ({"filter": []}, 'unknown name "filter"', "a misspelt field"),
        (
            {"filters": [{"name": "(", "expression": "true"}]},
            'cannot compile regular expression "^($" for filter 0: error parsing regexp',
            "a broken pattern",
        ),
        (
            {"filters": [{"name": "a", "expression": "true"}, {"name": "a", "expression": "1 +"}]},
            'cannot evaluate CEL expression "1 +" for filter 1: cannot parse expression: ERROR: <input>',
            "a broken expression, with its place",
        ),
        ({"filters": [{"name": "a"}]}, 'cannot evaluate CEL expression ""', "no expression"),
        (
            {"filters": [{"name": "a", "expression": "nobody == 1"}]},
            "undeclared reference to 'nobody'",
            "a name that there is not",
        ),
        (
            {"filters": [{"name": "a", "expression": "'text'"}]},
            "must return a boolean, but will return string instead",
            "a text",
        ),
        (
            {"filters": [{"name": "a", "expression": "observed.composite.resource.spec.nothing == 1"}]},
            "cannot evaluate CEL program: no such key: nothing",
            "a missing key",
        ),
        (
            {"filters": [{"name": "a", "expression": "has(observed.compsite)"}]},
            "cannot type-check expression: ERROR: <input>:1:4: undefined field 'compsite'\n",
            "a misspelt field of the state",
        ),
        (
            {"filters": [{"name": "a", "expression": "has(observed.composite.foo)"}]},
            "undefined field 'foo'",
            "a field that a resource of the protocol has not",
        ),
        (
            {"filters": [{"name": "a", "expression": "!has(desired.resource)"}]},
            "undefined field 'resource'",
            "a field of another message",
        ),
        (
            {"filters": [{"name": "a", "expression": "desired.resources['a'].redy == 1"}]},
            "undefined field 'redy'",
            "a misspelt field of a composed resource",
        ),
        (
            {"filters": [{"name": "a", "expression": "observed.composite.ready == 'READY_TRUE'"}]},
            "found no matching overload for '_==_' applied to '(int, string)'",
            "readiness is a number",
        ),
        (
            {"filters": [{"name": "a", "expression": "observed.composite.resource.spec.widgets"}]},
            "must return a boolean, but will return dyn instead",
            "a field of an object may be anything",
        ),
        (
            {"validations": [{"name": ".*", "expression": "has(desired.composit)"}]},
            "undefined field 'composit'",
            "a misspelt field in a validation",
        ),
        (
            {"validations": [{"expression": "true", "severity": "Loud"}]},
            "severity of validation 0",
            "no severity",
        ),
        ({"validations": [{"name": "[", "expression": "true"}]}, "for validation 0", "a broken pattern"),
        ({"filters": [{"name": "a", "expression": "'\ud800' == ''"}]}, "cannot evaluate", "no Unicode"),
    ],
)
def test_errors_are_fatal(function_input: dict[str, Any], problem: str, reason: str) -> None:
    (result,) = answered(**function_input).results
    assert result.severity == SEVERITY_FATAL, reason
    assert problem in result.message, reason


MANY = "observed.composite.resource.spec.many"


@pytest.mark.parametrize(
    ("expression", "problem", "reason"),
    [
        (
            f"{MANY}.all(a, {MANY}.all(b, {MANY}.all(c, a + b + c >= 0.0)))",
            "too many steps",
            "loops in loops",
        ),
        (
            f"['{'a' * 100}']" + ".map(x, x.replace('a', 'aaaaaaaaaa'))" * 18 + ".size() > 0",
            "out of memory|ended its process",
            "a text that grows tenfold",
        ),
        (
            f"['{'a' * 100}']" + ".map(x, '%s%s%s%s'.format([x, x, x, x]))" * 18 + ".size() > 0",
            "out of memory|ended its process",
            "a text that doubles twice",
        ),
        ("(" * 5000 + "true" + ")" * 5000, "recursion|nest", "brackets without end"),
        ("!" * 100_000 + "true", "", "an endless expression"),
        (f"'{'x' * (3 << 20)}' == ''", "longer than 2 MiB", "a huge expression"),
    ],
)
def test_cel_bomb_an_expression_is_stopped_and_the_next_is_answered(
    expression: str, problem: str, reason: str
) -> None:
    start = time.monotonic()
    filters = [{"name": "a", "expression": "true"}, {"name": "a", "expression": expression}]
    (result,) = answered(filters=filters).results
    assert time.monotonic() - start < GENEROUS
    assert "for filter 1: " in result.message or "cannot evaluate CEL expressions" in result.message
    assert result.severity == SEVERITY_FATAL
    assert any(part in result.message for part in problem.split("|")), reason
    assert remaining_names("user", "true") == ["bucket", "bucket-policy", "user"]
