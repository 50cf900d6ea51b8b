"""Sets of fields: their arithmetic and their stored form."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.apply import BadManagedFields
from crossply.apply.field_sets import (
    contains,
    decode_fields,
    difference,
    intersection,
    path_text,
    paths,
    single,
    union,
    without,
)
from crossply.apply.path_elements import canonical, described, order

ELEMENTS = ["f:a", "f:b", 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:"s"', "v:1", "i:0"]
PATHS = st.lists(st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=3).map(tuple), max_size=8)


def set_of(path_set):
    result = {}
    for path in path_set:
        result = union(result, single(path))
    return result


@given(PATHS, PATHS)
@settings(max_examples=200, deadline=None)
def test_arithmetic_is_that_of_sets_of_paths(first, second) -> None:
    left, two = set_of(first), set_of(second)
    assert set(paths(union(left, two))) == set(first) | set(second)
    assert set(paths(intersection(left, two))) == set(first) & set(second)
    assert set(paths(difference(left, two))) == set(first) - set(second)
    below = {path for path in first if not any(path[: len(other)] == other for other in second)}
    assert set(paths(without(left, two))) == below
    assert all(contains(left, path) == (path in first) for path in [*first, *second])


@given(PATHS)
@settings(max_examples=200, deadline=None)
def test_the_stored_form_reads_back(element_paths) -> None:
    fields = set_of(element_paths)
    assert decode_fields(fields) == fields
    marked = {element: {".": {}} if node == {} else node for element, node in fields.items()}
    assert decode_fields(marked) == fields


SPELLINGS = [
    ("spaces in keys", 'k:{"name": "x"}', 'k:{"name":"x"}'),
    ("order of keys", 'k:{"protocol":"TCP","port":80}', 'k:{"port":80,"protocol":"TCP"}'),
    ("signs that HTML needs", 'v:"<"', 'v:"\\u003c"'),
    ("a whole float", "v:1.0", "v:1"),
    ("a kind of element not known yet", "x:new", ""),
]


@pytest.mark.parametrize(("reason", "written", "expected"), SPELLINGS, ids=[row[0] for row in SPELLINGS])
def test_every_element_has_one_spelling(reason, written, expected) -> None:
    assert canonical(written) == expected, reason
    assert decode_fields({"f:a": {written: {}}}) == {"f:a": {expected: {}} if expected else {}}


def test_marks_without_meaning_are_dropped() -> None:
    assert decode_fields({".": {}, "f:a": {".": {}}, "f:b": None}) == {"f:a": {}, "f:b": {}}
    assert decode_fields(None) == {}


WRONG = [
    ("too short", {"f": {}}),
    ("no colon", {"fa": {}}),
    ("no JSON", {"k:{": {}}),
    ("no set", {"f:a": 1}),
    ("no keys", {"k:1": {}}),
    ("no index", {"i:x": {}}),
    ("a list", []),
]


@pytest.mark.parametrize(("reason", "fields"), WRONG, ids=[row[0] for row in WRONG])
def test_a_value_that_is_no_field_set_is_refused(reason, fields) -> None:
    with pytest.raises(BadManagedFields, match="error decoding set"):
        decode_fields(fields)


def test_paths_are_written_as_messages_show_them() -> None:
    assert path_text(("f:a", 'k:{"on":true,"port":80}', 'v:"s"', "i:0")) == '.a[on=true,port=80][="s"][0]'
    assert described("v:1.5") == "[=1.5]"
    assert described("v:null") == "[=null]"


def test_elements_sort_by_kind_and_value() -> None:
    elements = ["i:1", 'v:"b"', "v:10", "v:2", 'k:{"n":"b"}', 'k:{"n":"a"}', "f:b", "f:a", "v:true"]
    expected = ["f:a", "f:b", 'k:{"n":"a"}', 'k:{"n":"b"}', "v:2", "v:10", 'v:"b"', "v:true", "i:1"]
    assert sorted(elements, key=order) == expected
