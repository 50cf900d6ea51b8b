"""Reading, writing and deleting through field paths."""

from __future__ import annotations

import contextlib
import copy
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.errors import CrossplyError
from crossply.values import field_path as paths
from crossply.values.field_path import PathError, PathNotFound

CLUSTER = {
    "metadata": {"name": "red", "labels": {"team.example.org/name": "a-team"}},
    "spec": {
        "nodes": 3,
        "ratio": 0.5,
        "public": False,
        "owner": None,
        "zones": ["a", "b"],
        "pools": [{"size": 1}, None, {"taints": [[1], []]}],
        "tags": {"x": "y"},
    },
}


READS = [
    ("metadata.name", "red", "a field"),
    ("metadata.labels[team.example.org/name]", "a-team", "a field with dots"),
    ("spec.pools[2].taints[0][0]", 1, "arrays in arrays"),
    ("spec.owner", None, "a null is a value"),
    ("spec.public", False, "so is false"),
    ("", None, "the empty path leads to nothing"),
]


@pytest.mark.parametrize(("path", "value", "reason"), READS, ids=[row[2] for row in READS])
def test_a_path_leads_to_its_value(path: str, value: Any, reason: str) -> None:
    assert paths.get(CLUSTER, path) == value


FAILED_READS = [
    ("spec.size", "spec.size: no such field", True, "a missing field"),
    ("spec.zones[2]", "spec.zones[2]: no such element", True, "an index past the end"),
    ("spec.owner.name", "spec.owner: expected map, got nil", True, "a field of null"),
    ("spec.owner[0]", "spec.owner: not an array", False, "an element of null"),
    ("spec.nodes.x", "spec.nodes: not an object", False, "a field of a number"),
    ("metadata.name[0]", "metadata.name: not an array", False, "a string has no elements"),
    ("spec.tags[0]", "spec.tags: not an array", False, "an object has no elements"),
    ("spec.zones[*]", "spec.zones: not an object", False, "reading does not expand wildcards"),
    ("[0]", ": not an array", False, "the root is an object"),
    ("spec[", "cannot parse path \"spec[\": unterminated '[' at position 4", False, "a malformed path"),
]


@pytest.mark.parametrize(
    ("path", "message", "absent", "reason"), FAILED_READS, ids=[r[3] for r in FAILED_READS]
)
def test_a_failed_read_distinguishes_absent_from_impossible(
    path: str, message: str, absent: bool, reason: str
) -> None:
    with pytest.raises(PathError) as caught:
        paths.get(CLUSTER, path)
    assert (str(caught.value), caught.value.not_found) == (message, absent)
    assert isinstance(caught.value, PathNotFound) == absent


TYPED = [
    (paths.get_string, "metadata.name", "red"),
    (paths.get_integer, "spec.nodes", 3),
    (paths.get_number, "spec.ratio", 0.5),
    (paths.get_bool, "spec.public", False),
    (paths.get_string_array, "spec.zones", ["a", "b"]),
    (paths.get_string_object, "spec.tags", {"x": "y"}),
]


@pytest.mark.parametrize(("getter", "path", "value"), TYPED, ids=[row[0].__name__ for row in TYPED])
def test_a_typed_getter_returns_values_of_its_type(getter: Any, path: str, value: Any) -> None:
    assert getter(CLUSTER, path) == value


MISTYPED = [
    (paths.get_string, "spec.nodes", "spec.nodes: not a string"),
    (paths.get_integer, "spec.ratio", "spec.ratio: not a (int64) number"),
    (paths.get_integer, "spec.public", "spec.public: not a (int64) number"),
    (paths.get_number, "spec.nodes", "spec.nodes: not a (float64) number"),
    (paths.get_bool, "spec.nodes", "spec.nodes: not a bool"),
    (paths.get_string_array, "spec.tags", "spec.tags: not an array"),
    (paths.get_string_array, "spec.pools", "spec.pools: not an array of strings"),
    (paths.get_string_object, "spec.zones", "spec.zones: not an object"),
    (paths.get_string_object, "spec", "spec: not an object with string field values"),
]


@pytest.mark.parametrize(("getter", "path", "message"), MISTYPED, ids=[row[2] for row in MISTYPED])
def test_a_typed_getter_refuses_other_types(getter: Any, path: str, message: str) -> None:
    with pytest.raises(PathError) as caught:
        getter(CLUSTER, path)
    assert str(caught.value) == message


WRITES = [
    ({}, "a.b.c", 1, {"a": {"b": {"c": 1}}}, "objects are made on the way"),
    ({}, "a[1].b", 1, {"a": [None, {"b": 1}]}, "arrays are made and padded"),
    ({"a": [1]}, "a[2]", 3, {"a": [1, None, 3]}, "arrays are lengthened"),
    ({"a": [[1]]}, "a[0][1]", 2, {"a": [[1, 2]]}, "arrays in arrays too"),
    ({"a": [None]}, "a[0].b", 1, {"a": [{"b": 1}]}, "a null element is replaced by an object"),
    ({"a": [None]}, "a[0][0]", 1, {"a": [[1]]}, "or by an array"),
    ({"a": 1}, "", 2, {"a": 1}, "the empty path writes nothing"),
    ({"a": 1}, "a", None, {"a": None}, "null can be written"),
    ({}, "a", 2.0, {"a": 2}, "a whole float becomes an integer"),
    ({}, "a", {"b": [5.0, 1e300]}, {"a": {"b": [5, 1e300]}}, "inside values too, while it fits 64 bits"),
    ({}, "m[*]", 1, {"m": {"*": 1}}, "writing does not expand wildcards"),
]


@pytest.mark.parametrize(
    ("before", "path", "value", "after", "reason"), WRITES, ids=[row[4] for row in WRITES]
)
def test_writing_creates_missing_parents(before: Any, path: str, value: Any, after: Any, reason: str) -> None:
    paths.set_value(before, path, value)
    assert before == after
    assert repr(before) == repr(after), "numbers keep or change their type as stated"


FAILED_WRITES = [
    ({"a": None}, "a.b", "a is not an object", "a null field is not replaced"),
    ({"a": None}, "a[0]", "a is not an array", "nor for an array"),
    ({"a": {"s": "x"}}, "a.s.t", "a.s is not an object", "a string has no fields"),
    ({"a": {}}, "a[0]", "a is not an array", "an object has no elements"),
    ({"a": []}, "a.b", "a is not an object", "an array has no fields"),
    ({}, "[0]", " is not an array", "the root is an object"),
    ({}, "a[1025]", "index 1025 is greater than max allowed index 1024", "padding is bounded"),
    ({}, "a[", "cannot parse path \"a[\": unterminated '[' at position 1", "a malformed path"),
]


@pytest.mark.parametrize(
    ("obj", "path", "message", "reason"), FAILED_WRITES, ids=[r[3] for r in FAILED_WRITES]
)
def test_writing_never_replaces_a_value_of_another_kind(
    obj: Any, path: str, message: str, reason: str
) -> None:
    with pytest.raises(PathError) as caught:
        paths.set_value(obj, path, 1)
    assert str(caught.value) == message


def test_the_highest_index_can_be_written() -> None:
    obj: dict[str, Any] = {}
    paths.set_value(obj, "a[1024]", "last")
    assert len(obj["a"]) == 1025


def test_the_written_value_is_a_copy() -> None:
    obj: dict[str, Any] = {}
    value = {"nested": [{}]}
    paths.set_value(obj, "a", value)
    paths.set_value(obj, "a.nested[0].changed", True)
    assert value == {"nested": [{}]}


def test_a_number_without_json_form_is_refused() -> None:
    with pytest.raises(CrossplyError, match="cannot marshal value to JSON: json: unsupported value: NaN"):
        paths.set_value({}, "a", math.nan)


DELETIONS = [
    ("spec.nodes", "spec.nodes", "a field goes"),
    ("spec.missing", None, "a missing field is no error"),
    ("spec.missing.deeper", None, "nor is a missing parent"),
    ("spec.zones[9].x", None, "nor a missing element"),
    ("", None, "the empty path deletes nothing"),
]


@pytest.mark.parametrize(("path", "removed", "reason"), DELETIONS, ids=[row[2] for row in DELETIONS])
def test_deleting_removes_an_existing_field(path: str, removed: str | None, reason: str) -> None:
    obj = copy.deepcopy(CLUSTER)
    paths.delete(obj, path)
    assert (obj == CLUSTER) == (removed is None)
    if removed:
        with pytest.raises(PathNotFound):
            paths.get(obj, removed)


def test_deleting_an_element_moves_the_later_ones_up() -> None:
    obj = {"a": [1, 2, 3]}
    paths.delete(obj, "a[0]")
    paths.delete(obj, "a[7]")
    assert obj == {"a": [2, 3]}


FAILED_DELETIONS = [
    ("spec.zones.x", "cannot delete spec.zones.x: not an object"),
    ("spec.tags[0]", "cannot delete spec.tags[0]: not an array"),
    ("[0]", "cannot delete [0]: not an array"),
    ("spec.nodes.x.y", "spec.nodes is not an object"),
    ("spec.nodes[0].y", "spec.nodes is not an array"),
]


@pytest.mark.parametrize(("path", "message"), FAILED_DELETIONS, ids=[row[0] for row in FAILED_DELETIONS])
def test_deleting_from_the_wrong_kind_is_an_error(path: str, message: str) -> None:
    with pytest.raises(PathError) as caught:
        paths.delete(copy.deepcopy(CLUSTER), path)
    assert str(caught.value) == message


segments = st.one_of(st.sampled_from(["a", "b", "c.d", "*"]), st.integers(0, 3))
scalars = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=3))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "c.d"]), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(["a", "b"]), values, max_size=2)


@given(objects, st.lists(segments, min_size=1, max_size=4), values)
def test_a_set_value_is_read_back_and_can_be_deleted(obj: Any, steps: list[Any], value: Any) -> None:
    path = paths.to_string(tuple(steps))
    try:
        paths.set_value(obj, path, value)
    except PathError:
        return
    assert paths.get(obj, path) == value
    paths.delete(obj, path)
    if isinstance(steps[-1], str):
        with pytest.raises(PathNotFound):
            paths.get(obj, path)


@given(objects, st.lists(segments, min_size=1, max_size=4))
def test_a_failed_read_changes_nothing_and_is_a_path_error(obj: Any, steps: list[Any]) -> None:
    before = copy.deepcopy(obj)
    with contextlib.suppress(PathError):
        paths.get(obj, paths.to_string(tuple(steps)))
    assert obj == before
