"""The quick look agrees with the careful one whenever it does not give up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.schema.defaults import apply_defaults
from crossply.schema.fast_validation import Unusual, quick_check
from crossply.schema.list_and_embedded_checks import check_list_types
from crossply.schema.prune import prune
from crossply.schema.validation import validate

NAMES = st.sampled_from(["a", "b", "c"])
LEAVES = st.one_of(
    st.builds(
        lambda n, x: {"type": "string", "minLength": n, "maxLength": x}, st.integers(0, 2), st.integers(0, 4)
    ),
    st.just({"type": "string"}),
    st.just({"type": "string", "default": "d"}),
    st.just({"type": "string", "enum": ["x", "y"]}),
    st.just({"type": "string", "pattern": "^x"}),
    st.just({"type": "string", "nullable": True}),
    st.builds(
        lambda kind, form: {"type": kind, "format": form},
        st.sampled_from(["string", "integer"]),
        st.sampled_from(["date-time", "date", "int32", "made-up"]),
    ),
    st.builds(
        lambda low, high: {"type": "integer", "minimum": low, "maximum": high},
        st.integers(0, 3),
        st.integers(0, 5),
    ),
    st.just({"type": "number", "default": 1.5}),
    st.just({"type": "boolean"}),
    st.just({"x-kubernetes-int-or-string": True}),
    st.just({"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
)


def nested(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(
            lambda properties, required, default: {
                "type": "object",
                "properties": properties,
                "required": required,
                **({"default": {}} if default else {}),
            },
            st.dictionaries(NAMES, children, max_size=3),
            st.lists(NAMES, unique=True, max_size=1),
            st.booleans(),
        ),
        st.builds(lambda extra: {"type": "object", "additionalProperties": extra}, children),
        st.builds(
            lambda items, most: {"type": "array", "items": items, "maxItems": most},
            children,
            st.integers(0, 3),
        ),
        st.builds(
            lambda t: {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": t},
            st.sampled_from(["set", "atomic"]),
        ),
    )


SCHEMAS = st.recursive(LEAVES, nested, max_leaves=8)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-1, 6),
        st.floats(0, 2),
        st.sampled_from(["", "x", "xy", "zzzzz", "2024-02-29", "2024-02-29T01:02:03Z"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=400)
@given(SCHEMAS, VALUES)
def test_a_value_that_passes_the_fast_check_equals_the_full_result(schema: Any, value: Any) -> None:
    root = {"type": "object", "properties": {"spec": schema}}
    obj = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "n"}, "spec": value}
    try:
        passed = quick_check(root)(obj)
    except Unusual:
        return
    assert passed == prune(apply_defaults(obj, root), root)
    assert validate(passed, root) == []
    assert check_list_types(passed, root) == []


USUAL = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "string", "enum": ["s", "m"]},
                "n": {"type": "integer", "default": 3, "minimum": 1},
                "tags": {"type": "array", "items": {"type": "string"}},
                "since": {"type": "string", "format": "date-time"},
            },
        }
    },
}


def test_the_length_of_a_name_is_checked() -> None:
    named = {"properties": {"metadata": {"properties": {"name": {"type": "string", "maxLength": 3}}}}}
    assert quick_check(named)({"metadata": {"name": "abc"}})
    with pytest.raises(Unusual):
        quick_check(named)({"metadata": {"name": "abcd"}})


def test_the_usual_object_passes_with_its_defaults() -> None:
    spec = {"size": "m", "tags": ["a"], "since": "2024-01-02T03:04:05Z"}
    obj = {"apiVersion": "v1", "kind": "T", "metadata": {}, "spec": spec}
    passed = quick_check(USUAL)(obj)
    assert passed["spec"] == {**spec, "n": 3}
    assert "n" not in obj["spec"], "the object that came in is left alone"


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"size": "m", "zz": 1}, "an unknown field is pruned, and told of"),
        ({"size": "x"}, "not one of the allowed values"),
        ({}, "a required field is missing"),
        ({"size": "m", "n": 0}, "below the minimum"),
        ({"size": "m", "n": True}, "a boolean is no integer"),
        ({"size": "m", "n": 3.0}, "a whole float needs a second look"),
        ({"size": None}, "null is never usual"),
        ({"size": "m", "since": "yesterday"}, "not of the format"),
    ],
)
def test_anything_else_is_left_to_the_full_check(spec: Any, reason: str) -> None:
    with pytest.raises(Unusual):
        quick_check(USUAL)({"spec": spec})
