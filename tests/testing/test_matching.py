"""Comparing with what is expected, wholly and in part."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.testing.suite import EXACT, SUBSET
from crossply.testing.value_matching import mismatches, written_path
from crossply.values.differences import Item

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("expected", "actual", "wrong"),
    [
        pytest.param({"a": 1}, {"a": 1, "b": 2}, [], id="other fields may be there"),
        pytest.param({"a": 1}, {"a": 2}, ["a"], id="a value differs"),
        pytest.param({"a": {"b": 1}}, {"a": {}}, ["a.b"], id="a field is not there"),
        pytest.param({"a": {"b": 1}}, {"a": 5}, ["a"], id="another type"),
        pytest.param({"a": 1}, {"a": True}, ["a"], id="true is not 1"),
        pytest.param({"a": 1}, {"a": 1.0}, [], id="JSON has one type of number"),
        pytest.param({"a": None}, {}, [], id="null is expected of a field that is not there"),
        pytest.param({"a": None}, {"a": 0}, ["a"], id="null is not 0"),
        pytest.param({"a": {}}, {"a": {"b": 1}}, [], id="an empty object is part of any"),
        pytest.param({"a": {}}, {}, ["a"], id="an empty object is there, though"),
        pytest.param({"a": [1, 2]}, {"a": [1, 2, 3]}, ["a"], id="a list of scalars is the whole list"),
        pytest.param({"a": []}, {"a": [{"name": "x"}]}, ["a[x].name"], id="an empty list is empty"),
        pytest.param(
            {"a": [{"name": "y", "v": 1}]},
            {"a": [{"name": "x"}, {"name": "y", "v": 1, "w": 2}]},
            [],
            id="items are found by name, others may be there",
        ),
        pytest.param(
            {"a": [{"name": "y", "v": 1}]}, {"a": [{"name": "y", "v": 2}]}, ["a[y].v"], id="an item differs"
        ),
        pytest.param(
            {"a": [{"name": "z"}]}, {"a": [{"name": "y"}]}, ["a[z].name"], id="a named item is not there"
        ),
        pytest.param({"a": [{"v": 1}]}, {"a": [{"v": 1, "w": 2}]}, [], id="items without names in turn"),
        pytest.param(
            {"a": [{"v": 1}]}, {"a": [{"v": 1}, {"v": 2}]}, ["a[1].v"], id="no more items than expected"
        ),
    ],
)
def test_part_of_an_object(expected: Any, actual: Any, wrong: list[str]) -> None:
    assert [mismatch.field for mismatch in mismatches(expected, actual, SUBSET)] == wrong


def test_the_whole_object_has_no_other_fields() -> None:
    mismatch_list = mismatches({"a": 1, "l": [{"name": "x"}]}, {"a": 1, "b": 2, "l": [{"name": "y"}]}, EXACT)
    assert [mismatch.field for mismatch in mismatch_list] == ["b", "l[x].name", "l[y].name"]


@given(JSON)
def test_everything_matches_itself_wholly_and_in_part(value: Any) -> None:
    assert mismatches(value, value, EXACT) == []
    assert mismatches(value, value, SUBSET) == []


@given(JSON, JSON)
def test_a_full_match_is_a_partial_match(one: Any, other: Any) -> None:
    if not mismatches(one, other, EXACT):
        assert mismatches(one, other, SUBSET) == []


@given(JSON, JSON)
def test_every_mismatch_has_a_path_that_was_written(one: Any, other: Any) -> None:
    for mismatch in mismatches(one, other, EXACT):
        value = one
        for segment in written_path(one, mismatch.path):
            value = value[segment]


def test_items_of_lists_are_written_at_their_numbers() -> None:
    expected = {"a": [{"name": "x"}, {"name": "y", "v": 1}]}
    assert written_path(expected, ("a", Item("y"), "v")) == ("a", 1, "v")
    assert written_path(expected, ("a", Item("z"), "v")) == ("a",)
