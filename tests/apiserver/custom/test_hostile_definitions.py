"""Definitions that mean harm are answered quickly, with a reason, and nothing falls over."""

from __future__ import annotations

import pytest

from crossply.apiserver.apiextensions.crd_defaults import default_definition
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.values import Object
from tests.support.apiserver.definitions import NUMBER, TEXT, definition, errors_of

RULES = "x-kubernetes-validations"


def many(schema: Object, count: int = 10_000) -> Object:
    return {"type": "object", "properties": {f"p{index}": schema for index in range(count)}}


def nested(schema: Object, depth: int, **more: object) -> Object:
    for _ in range(depth):
        schema = {"type": "object", "properties": {"n": schema}, **more}
    return schema


ALL = "self.all(a, self.all(b, self.all(c, self.all(d, self.all(e, self.all(f, a == b))))))"


@pytest.mark.parametrize(
    ("schema", "is_refused", "reason"),
    [
        (many({"type": "object", "properties": {"a": TEXT}}), False, "large, but honest"),
        (many({}), True, "ten thousand errors"),
        (many({**TEXT, "$ref": "#/properties/p1"}), True, "references in a circle"),
        ({**many(TEXT), RULES: [{"rule": "true"}]}, True, "wider than the evaluator holds"),
        (many({**TEXT, RULES: [{"rule": "self == 'x'"}]}), True, "a rule everywhere"),
        (nested(many(TEXT), 80, **{RULES: [{"rule": "true"}]}), True, "the same large type again and again"),
        (nested(TEXT, 90), False, "deep, but not too deep"),
        ({"type": "object", RULES: [{"rule": "true" + " && true" * 30_000}]}, True, "a rule without end"),
        ({"type": "object", RULES: [{"rule": "(" * 9_000 + "true" + ")" * 9_000}]}, True, "a deep rule"),
        (nested({"type": "array", "items": NUMBER, RULES: [{"rule": ALL}]}, 1), True, "a cost bomb"),
        (nested({**TEXT, "pattern": "((a{1,99}){1,99}){1,99}"}, 1), True, "a pattern that explodes"),
        (nested({**TEXT, "pattern": "(a+)+$", "default": "a" * 5_000 + "b"}, 1), True, "one that backtracks"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_harm_is_answered(schema: Object, is_refused: bool, reason: str) -> None:
    errors = errors_of(definition(schema))
    assert bool(errors) is is_refused, reason


@pytest.mark.parametrize("depth", [150, 100_000])
def test_a_schema_that_nests_too_deeply_is_not_read(depth: int) -> None:
    with pytest.raises(StatusError) as refused:
        default_definition(definition(nested(TEXT, depth)))
    assert refused.value.status == 400
    assert str(refused.value).endswith("exceeded max depth")


def test_a_schema_of_the_wrong_type_is_not_read() -> None:
    with pytest.raises(StatusError) as refused:
        default_definition(definition({"type": "object", "properties": {"a": {"maxLength": "x"}}}))
    assert str(refused.value) == (
        'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: json: '
        "cannot unmarshal string into Go struct field JSONSchemaProps.properties.maxLength of type int64"
    )
