"""Copies share nothing, equality distinguishes types, digests ignore the order of keys."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values import digest
from crossply.values.deepcopy import deepcopy, equal, json_copy

values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, 2.5]), st.text(max_size=2)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=2), inner, max_size=4)
    ),
    max_leaves=15,
)


def containers(value: Any) -> list[int]:
    result = []
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict | list):
            result.append(id(item))
            pending += item.values() if isinstance(item, dict) else item
    return result


@given(values)
def test_a_copy_is_equal_and_shares_no_container(value: Any) -> None:
    copied = deepcopy(value)
    assert equal(copied, value)
    assert repr(copied) == repr(value)
    assert not set(containers(copied)) & set(containers(value))


@given(values)
def test_a_copy_through_json_turns_whole_floats_into_integers(value: Any) -> None:
    before = copy.deepcopy(value)
    copied = json_copy(value)
    assert copied == value
    assert ".0" not in repr(copied)
    assert repr(value) == repr(before)


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = {"a": value}
    return value


def test_depth_is_no_limit() -> None:
    value = deep(50_000)
    assert equal(deepcopy(value), json_copy(value))
    assert not equal(value, deep(49_999))


DIFFERENT = [
    (1, 1.0, "integer and float"),
    (1, True, "integer and boolean"),
    (0, False, "zero and false"),
    (0, None, "zero and null"),
    ("", None, "empty and null"),
    ([], {}, "array and object"),
    ({"a": 1}, {"a": 1, "b": 2}, "more fields"),
    ({"a": 1}, {"b": 1}, "other fields"),
    ([1], [1, 1], "other lengths"),
    ([1, 2], [2, 1], "another order"),
    ({"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}, "a type deep inside"),
]


@pytest.mark.parametrize(("one", "other", "reason"), DIFFERENT, ids=[row[2] for row in DIFFERENT])
def test_values_of_different_types_or_shapes_are_not_equal(one: Any, other: Any, reason: str) -> None:
    assert not equal(one, other)
    assert not equal(other, one)


def test_the_order_of_keys_does_not_matter() -> None:
    first, other = {"a": 1, "b": [2]}, {"b": [2], "a": 1}
    assert equal(first, other)
    assert digest.of_value(first) == digest.of_value(other)


def test_digests_are_sha256_in_hexadecimal() -> None:
    assert digest.sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest.of_value({}) == digest.sha256_hex(b"{}")


@given(values, values)
def test_different_values_have_different_digests(one: Any, other: Any) -> None:
    same = digest.of_value(json_copy(one)) == digest.of_value(json_copy(other))
    assert same == equal(json_copy(one), json_copy(other))
