"""Values pass through Go's structs as they would in Go, and fail with Go's sentences."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.kinds.gostructs import (
    BOOL,
    FLOAT,
    INT32,
    INT64,
    JSON_STRING,
    RAW,
    STRING,
    DecodeError,
    Field,
    list_of,
    map_of,
    round_trip,
    struct,
    text,
)

LEAF = struct("Leaf", {"name": Field(STRING, optional=False), "size": Field(INT64), "ratio": Field(FLOAT)})
TREE_FIELDS: dict[str, Field] = {}
TREE = struct("Tree", TREE_FIELDS, package="v9")
TREE_FIELDS.update(
    leaf=Field(LEAF),
    leaves=Field(list_of(LEAF)),
    named=Field(map_of(LEAF)),
    mode=Field(text("v9.Mode"), pointer=True),
    on=Field(BOOL),
    maybe=Field(BOOL, pointer=True),
    small=Field(INT32),
    strict=Field(JSON_STRING),
    raw=Field(RAW, pointer=True),
    child=Field(TREE, pointer=True),
)


@pytest.mark.parametrize(
    ("value", "result", "reason"),
    [
        (None, {}, "null is the zero value"),
        ({"unknown": 1}, {}, "unknown fields disappear"),
        ({"on": False, "small": 0, "leaves": [], "named": {}}, {}, "empty optional fields disappear"),
        ({"maybe": False}, {"maybe": False}, "behind a pointer only null is empty"),
        ({"maybe": None, "mode": None}, {}, "null behind a pointer disappears"),
        ({"leaf": {}}, {"leaf": {"name": ""}}, "a required field appears with its zero value"),
        ({"leaf": {"name": 5}}, {"leaf": {"name": "5"}}, "a YAML scalar is its text"),
        ({"leaf": {"name": "a", "ratio": 2.0}}, {"leaf": {"name": "a", "ratio": 2}}, "2.0 is written 2"),
        ({"raw": {"a": None}}, {"raw": {"a": None}}, "raw JSON is kept as it is"),
        ({"child": {"child": {}}}, {"child": {"child": {}}}, "a type may contain itself"),
    ],
)
def test_values_that_survive_a_round_trip(value: Any, result: Any, reason: str) -> None:
    assert round_trip(value, TREE) == result, reason


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("x", "string into Go value of type v9.Tree"),
        ({"leaf": []}, "array into Go struct field Tree.leaf of type v1.Leaf"),
        ({"leaf": {"name": {}}}, "object into Go struct field Leaf.leaf.name of type string"),
        ({"leaves": {}}, "object into Go struct field Tree.leaves of type []v1.Leaf"),
        ({"leaves": [{"size": "x"}]}, "string into Go struct field Leaf.leaves.size of type int64"),
        ({"named": []}, "array into Go struct field Tree.named of type map[string]v1.Leaf"),
        ({"mode": []}, "array into Go struct field Tree.mode of type v9.Mode"),
        ({"on": 1}, "number into Go struct field Tree.on of type bool"),
        ({"small": 2**31}, "number 2147483648 into Go struct field Tree.small of type int32"),
        ({"small": 1.5}, "number 1.5 into Go struct field Tree.small of type int32"),
        ({"strict": 5}, "number into Go struct field Tree.strict of type string"),
        ({"on": 1, "leaf": 1}, "number into Go struct field Tree.leaf of type v1.Leaf"),
    ],
)
def test_a_wrong_type_is_reported_in_gos_terms(value: Any, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        round_trip(value, TREE)
    assert str(caught.value) == f"json: cannot unmarshal {message}"


def test_a_value_nested_without_end_is_refused() -> None:
    value: dict[str, Any] = {}
    for _ in range(100_000):
        value = {"child": value}
    with pytest.raises(DecodeError, match="exceeded max depth"):
        round_trip(value, TREE)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(TREE_FIELDS)), inner, max_size=4)
    ),
)


@given(JSON)
def test_the_second_journey_changes_nothing(value: Any) -> None:
    with contextlib.suppress(DecodeError):
        once = round_trip(value, TREE)
        assert round_trip(once, TREE) == once
