"""Defaults are filled in where Kubernetes fills them in, and nowhere else."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.schema.defaults import apply_defaults

NUMBER = {"type": "integer", "default": 3}
PORT = {"type": "object", "properties": {"protocol": {"type": "string", "default": "TCP"}}}

ROWS = [
    ("an absent field gets its default", {"properties": {"a": NUMBER}}, {}, {"a": 3}),
    ("a field that is there keeps its value", {"properties": {"a": NUMBER}}, {"a": 0}, {"a": 0}),
    ("a null that may not be gets the default", {"properties": {"a": NUMBER}}, {"a": None}, {"a": 3}),
    (
        "a null that may be stays",
        {"properties": {"a": {**NUMBER, "nullable": True}}},
        {"a": None},
        {"a": None},
    ),
    (
        "a default below an absent parent waits for the parent",
        {"properties": {"spec": {"properties": {"a": NUMBER}}}},
        {},
        {},
    ),
    (
        "a default of the parent is itself defaulted",
        {"properties": {"spec": {"default": {}, "properties": {"a": NUMBER}}}},
        {},
        {"spec": {"a": 3}},
    ),
    ("items are defaulted one by one", {"items": PORT}, [{}, {"protocol": "UDP"}], None),
    ("members of a map are defaulted", {"additionalProperties": PORT}, {"x": {}}, {"x": {"protocol": "TCP"}}),
    ("a null item without a default stays null", {"items": {"type": "string"}}, [None], [None]),
    ("a property without a schema has no default", {"properties": {"a": None}}, {}, {}),
]


@pytest.mark.parametrize(
    ("schema", "value", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_defaults_apply_along_the_structure(schema, value, expected):
    if expected is None:
        expected = [{"protocol": "TCP"}, {"protocol": "UDP"}]
    assert apply_defaults(value, schema) == expected


def test_a_default_is_copied_for_every_use():
    schema = {"items": {"properties": {"tags": {"default": []}}}}
    result = apply_defaults([{}, {}], schema)
    result[0]["tags"].append("x")
    assert result[1]["tags"] == []
    assert schema["items"]["properties"]["tags"]["default"] == []


@given(st.dictionaries(st.sampled_from("abc"), st.none() | st.integers()))
def test_the_input_is_left_alone_and_a_second_time_changes_nothing(value):
    schema = {"properties": {"a": NUMBER, "b": {"type": "integer"}}}
    before = copy.deepcopy(value)
    once = apply_defaults(value, schema)
    assert value == before
    assert apply_defaults(once, schema) == once
