"""JSON merge patches are applied, and made from two objects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values.merge_patch import merge_patch, merge_patch_to

SCALARS = st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)
OBJECTS = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(SCALARS, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
)


@pytest.mark.parametrize(
    ("value", "patch", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": None, "c": 3}, {"b": 2, "c": 3}),
        ({"a": {"b": 1}}, {"a": {"c": {"d": None}}}, {"a": {"b": 1, "c": {}}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}),
    ],
)
def test_a_merge_patch_is_applied_by_its_rfc(value, patch, expected):
    assert merge_patch(value, patch) == expected


@given(OBJECTS, OBJECTS)
def test_after_the_patch_nothing_is_left_to_change(desired, live):
    patched = merge_patch(live, merge_patch_to(desired, live))
    assert merge_patch_to(desired, patched) == {}


def test_fields_that_only_the_live_object_has_stay():
    patch = merge_patch_to({"spec": {"size": 2, "same": 1}}, {"spec": {"size": 1, "same": 1, "other": 3}})
    assert patch == {"spec": {"size": 2}}
