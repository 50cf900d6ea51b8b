"""What differs between two values, and carrying a change over to a third."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values.differences import MISSING, carried, differences

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("xyz", max_size=2), VALUES, max_size=4)


def changes(before, after):
    return [
        (difference.field, difference.before, difference.after) for difference in differences(before, after)
    ]


@pytest.mark.parametrize(
    ("reason", "before", "after", "expected"),
    [
        ("a field that changes", {"a": {"b": 1}}, {"a": {"b": 2}}, [("a.b", 1, 2)]),
        ("a number is no boolean", {"a": 1}, {"a": True}, [("a", 1, True)]),
        (
            "a new map is listed by field",
            {},
            {"a": {"b": 1, "c": 2}},
            [("a.b", MISSING, 1), ("a.c", MISSING, 2)],
        ),
        ("a map that goes is listed by field", {"a": {"b": 1}}, {}, [("a.b", 1, MISSING)]),
        ("an empty map is a value", {}, {"a": {}}, [("a", MISSING, {})]),
        ("a map for a scalar is listed whole", {"a": 1}, {"a": {"b": 1}}, [("a", 1, {"b": 1})]),
        ("a key with dots is put in brackets", {}, {"a": {"b.c/d": 1}}, [("a[b.c/d]", MISSING, 1)]),
        ("lists of scalars are listed whole", {"a": [1, 2]}, {"a": [1, 3]}, [("a", [1, 2], [1, 3])]),
        (
            "items are found by their name, wherever they are",
            {"a": [{"name": "x", "v": 1}, {"name": "y", "v": 2}]},
            {"a": [{"name": "y", "v": 3}, {"name": "x", "v": 1}]},
            [("a[y].v", 2, 3)],
        ),
        (
            "conditions are found by their type",
            {"c": [{"type": "Ready", "status": "False"}]},
            {"c": [{"type": "Synced", "status": "True"}, {"type": "Ready", "status": "True"}]},
            [
                ("c[Ready].status", "False", "True"),
                ("c[Synced].status", MISSING, "True"),
                ("c[Synced].type", MISSING, "Synced"),
            ],
        ),
        (
            "items that share a name are compared by place",
            {"a": [{"name": "x", "v": 1}, {"name": "x", "v": 2}]},
            {"a": [{"name": "x", "v": 1}, {"name": "x", "v": 3}]},
            [("a[1].v", 2, 3)],
        ),
        (
            "an item more",
            {"a": [{"v": 1}]},
            {"a": [{"v": 1}, {"v": 2}]},
            [("a[1].v", MISSING, 2)],
        ),
    ],
)
def test_every_field_that_differs_is_listed(reason, before, after, expected):
    assert changes(before, after) == expected, reason


def test_a_value_as_deep_as_one_likes_is_compared():
    def nested(leaf):
        value = {"a": leaf}
        for _ in range(500):
            value = {"a": value}
        return value

    [difference] = differences(nested(1), nested(2))
    assert (len(difference.path), difference.before, difference.after) == (501, 1, 2)


@given(VALUES, VALUES)
def test_equal_values_differ_in_nothing_and_others_in_something(one, other):
    assert differences(one, one) == []
    same = one == other and repr(one) == repr(other)
    assert same or differences(one, other) or sorted_alike(one, other)


def sorted_alike(one, other):
    """Named items in another order, and keys in another order, are no difference."""
    return repr(_sorted(one)) == repr(_sorted(other))


def _sorted(value):
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


@given(OBJECTS, OBJECTS)
def test_a_change_rebased_onto_its_origin_is_the_change_itself(before, after):
    assert carried(before, after, before) == after


@given(OBJECTS, OBJECTS)
def test_no_change_carried_over_changes_nothing(before, other):
    assert carried(before, before, other) == other


def test_a_change_is_carried_over_beside_other_changes():
    before = {"spec": {"size": 1, "old": 1}, "list": [1]}
    after = {"spec": {"size": 2}, "list": [1, 2]}
    onto = {"spec": {"size": 1, "old": 1, "mine": True}, "list": [1], "status": {}}
    assert carried(before, after, onto) == {"spec": {"size": 2, "mine": True}, "list": [1, 2], "status": {}}
