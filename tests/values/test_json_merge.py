"""Merging values: precedence and addition."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values import field_path as paths
from crossply.values.merge import MergeError, MergeOptions, merge

REPLACE = None
FORCE = MergeOptions(keep_map_values=False)
KEEP = MergeOptions(keep_map_values=True)
APPEND = MergeOptions(append_slice=True)
KEEP_APPEND = MergeOptions(keep_map_values=True, append_slice=True)

OLD = {"n": 1, "list": [1, 2], "zero": 0, "inner": {"x": "old", "only": 1}}
NEW = {"n": 2, "list": [2, 3], "zero": 9, "inner": {"x": "new", "added": 2}, "more": True}

MERGES = [
    (REPLACE, NEW, "without options the source replaces all"),
    (
        FORCE,
        {"n": 2, "list": [2, 3], "zero": 9, "inner": {"x": "new", "only": 1, "added": 2}, "more": True},
        "the source wins, what only the destination has stays",
    ),
    (
        KEEP,
        {"n": 1, "list": [1, 2], "zero": 9, "inner": {"x": "old", "only": 1, "added": 2}, "more": True},
        "the destination wins unless it is empty",
    ),
    (
        APPEND,
        {"n": 2, "list": [1, 2, 2, 3], "zero": 9, "inner": {"x": "new", "only": 1, "added": 2}, "more": True},
        "inner arrays are appended, duplicates included",
    ),
    (
        KEEP_APPEND,
        {"n": 1, "list": [1, 2, 2, 3], "zero": 9, "inner": {"x": "old", "only": 1, "added": 2}, "more": True},
        "both at once",
    ),
]


@pytest.mark.parametrize(("options", "expected", "reason"), MERGES, ids=[row[2] for row in MERGES])
def test_objects_merge_by_the_options(options: MergeOptions | None, expected: Any, reason: str) -> None:
    old, new = copy.deepcopy(OLD), copy.deepcopy(NEW)
    assert merge(old, new, options) == expected
    assert (old, new) == (OLD, NEW), "neither side is changed"


CORNERS = [
    ("a", "b", KEEP, "a", "a string that is there is kept"),
    ("", "b", KEEP, "b", "an empty one is not"),
    (False, True, KEEP, True, "false counts as empty"),
    ({"a": 1}, "b", KEEP, {"a": 1}, "an object is kept against a string"),
    ({"a": 1}, "b", FORCE, "b", "and replaced by it when forced"),
    ({"a": 1}, None, KEEP, None, "a null source replaces"),
    (None, {"a": 1}, KEEP, {"a": 1}, "a null destination is replaced"),
    ({"a": 1}, {"a": None}, FORCE, {"a": None}, "an inner null wins when forced"),
    ({"a": 1}, {"a": None, "b": None}, KEEP, {"a": 1}, "and is ignored when keeping"),
    ({"a": {}}, {"a": {"b": None}}, KEEP, {"a": {}}, "also in an empty object"),
    ([1, {"k": 1}], [1, 3, {"k": 1}], APPEND, [1, {"k": 1}, 3], "outer arrays append without duplicates"),
    ([1], [1.0, True], APPEND, [1, 1.0, True], "numbers of other types are no duplicates"),
    ([], [], APPEND, None, "nothing appended to nothing is null"),
    ([1], [], FORCE, [], "an empty array wins when forced"),
    ([1], [], KEEP, [1], "and loses when keeping"),
    ({"l": None}, {"l": [1]}, APPEND, {"l": [1]}, "appending to null sets"),
]


@pytest.mark.parametrize(
    ("old", "new", "options", "expected", "reason"), CORNERS, ids=[row[4] for row in CORNERS]
)
def test_corners_of_merging(old: Any, new: Any, options: MergeOptions, expected: Any, reason: str) -> None:
    merged = merge(old, new, options)
    assert repr(merged) == repr(expected)


def test_an_array_cannot_be_appended_to_something_else() -> None:
    with pytest.raises(MergeError) as caught:
        merge({"a": "x"}, {"a": [1]}, APPEND)
    assert str(caught.value) == (
        "failed to merge values: cannot append two slices with different type ([]interface {}, string)"
    )


def test_merging_at_a_path_creates_missing_parents() -> None:
    obj: dict[str, Any] = {"a": {"x": 1}}
    paths.merge_value(obj, "a", {"y": 2}, FORCE)
    paths.merge_value(obj, "b.c", [1], APPEND)
    paths.merge_value(obj, "a", {"z": 3}, REPLACE)
    assert obj == {"a": {"z": 3}, "b": {"c": [1]}}


def test_merging_below_a_scalar_is_an_error() -> None:
    with pytest.raises(paths.PathError, match="s: not an object"):
        paths.merge_value({"s": 1}, "s.x", 1, KEEP)


def test_long_arrays_append_in_reasonable_time() -> None:
    old: list[Any] = [{"id": number} for number in range(3000)]
    new: list[Any] = [{"id": number} for number in range(1500, 4500)]
    assert merge(old, new, APPEND) == [{"id": number} for number in range(4500)]


def test_deep_objects_merge_without_recursion() -> None:
    old: Any = {}
    new: Any = {}
    for _ in range(5000):
        old, new = {"a": old}, {"a": new, "b": 1}
    assert merge(old, new, FORCE)["b"] == 1


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.sampled_from(["", "x"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner)),
    max_leaves=10,
)
objects = st.dictionaries(st.sampled_from("abc"), values)


@given(objects)
def test_merging_a_value_with_itself_changes_nothing(value: Any) -> None:
    assert merge(value, copy.deepcopy(value), FORCE) == value
    assert merge(value, copy.deepcopy(value), KEEP) == value


@given(objects, objects)
def test_no_field_is_ever_lost(old: Any, new: Any) -> None:
    assert merge(old, new, FORCE).keys() == old.keys() | new.keys()
    assert merge(old, new, KEEP).keys() >= old.keys()


@given(objects, objects)
def test_forcing_twice_is_forcing_once(old: Any, new: Any) -> None:
    once = merge(old, new, FORCE)
    assert merge(once, new, FORCE) == once
