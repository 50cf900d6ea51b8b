"""Wildcards stand for the paths that exist."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values import field_path as paths
from crossply.values.field_path import PathError

POD = {
    "spec": {
        "containers": [
            {"name": "web", "args": ["-v", "-x"], "env": {"A.B": 1, "C": 2}},
            {"name": "log", "args": []},
        ],
        "none": None,
        "word": "text",
        "empty": [],
    }
}

EXPANSIONS = [
    ("spec.word", ["spec.word"], "a path without wildcards stands for itself"),
    ("spec.missing", [], "if it exists"),
    ("spec.containers[*].name", ["spec.containers[0].name", "spec.containers[1].name"], "elements by index"),
    ("spec.containers.*.name", ["spec.containers[0].name", "spec.containers[1].name"], "the dotted form too"),
    (
        "spec.containers[0].env[*]",
        ["spec.containers[0].env[A.B]", "spec.containers[0].env.C"],
        "fields by name",
    ),
    (
        "spec.containers[*].args[*]",
        ["spec.containers[0].args[0]", "spec.containers[0].args[1]"],
        "two wildcards",
    ),
    ("spec.containers[*].env.C", ["spec.containers[0].env.C"], "only complete paths that exist"),
    ("spec.empty[*].x", [], "nothing stands for nothing"),
    ("spec.missing[*]", [], "neither does what is missing"),
    ("*", ["spec"], "the root expands"),
    ("", [""], "the empty path stands for itself"),
]


@pytest.mark.parametrize(("path", "expected", "reason"), EXPANSIONS, ids=[row[2] for row in EXPANSIONS])
def test_a_wildcard_expands_to_the_paths_that_exist(path: str, expected: list[str], reason: str) -> None:
    assert paths.expand(POD, path) == expected


FAILURES = [
    (
        "spec.none[*]",
        'cannot expand wildcards for segments: "spec.none[*]": '
        'wildcard field "spec.none" is not found in the path',
        True,
    ),
    (
        "spec.word[*]",
        'cannot expand wildcards for segments: "spec.word[*]": "spec.word": unexpected wildcard usage',
        False,
    ),
    (
        "spec.containers[*].name.first",
        'cannot expand wildcards for segments: "spec.containers[*].name.first": '
        '"spec.containers[1].name.first": cannot expand wildcards: spec.containers[1].name: not an object',
        False,
    ),
    ("spec[", "cannot parse path \"spec[\": unterminated '[' at position 4", False),
]


@pytest.mark.parametrize(("path", "message", "absent"), FAILURES, ids=[row[0] for row in FAILURES])
def test_a_wildcard_that_does_not_fit_is_an_error(path: str, message: str, absent: bool) -> None:
    with pytest.raises(PathError) as caught:
        paths.expand(POD, path)
    assert (str(caught.value), caught.value.not_found) == (message, absent)


def test_a_field_named_like_a_wildcard_is_expanded_once() -> None:
    assert paths.expand({"m": {"*": 1, "a": 2}}, "m[*]") == ["m[*]", "m.a"]


def test_many_wildcards_on_a_deep_value_need_no_recursion() -> None:
    value: Any = 1
    for _ in range(3000):
        value = [value]
    assert paths.expand({"a": value}, "a" + "[*]" * 3000) == ["a" + "[0]" * 3000]


@given(
    st.recursive(
        st.integers(),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner)),
        max_leaves=12,
    ),
    st.integers(1, 4),
)
def test_every_expanded_path_can_be_read(value: Any, count: int) -> None:
    obj = {"root": value}
    try:
        expanded = paths.expand(obj, "root" + "[*]" * count)
    except PathError:
        return
    assert len(set(expanded)) == len(expanded)
    for path in expanded:
        paths.get(obj, path)
