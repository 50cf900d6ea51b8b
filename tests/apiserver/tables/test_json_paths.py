"""JSONPath with the rules of Kubernetes."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.apiserver.tables.json_path import JsonPathError, PathBudget, find, parse, shown

OBJECT: dict[str, Any] = {
    "a": {"b.c": 1, "d/e": 2},
    "list": [{"k": "x", "n": 1}, {"k": "y", "n": 2}, {"k": "z"}],
    "deep": {"k": {"k": "inner"}},
    "nothing": None,
}

PATHS: list[tuple[str, list[Any]]] = [
    (".a.b\\.c", [1]),
    (".a['d/e']", [2]),
    (".list[0].k", ["x"]),
    (".list[-1].k", ["z"]),
    (".list[-1:].k", ["z"]),
    (".list[0:2].k", ["x", "y"]),
    (".list[::2].k", ["x", "z"]),
    (".list[*].n", [1, 2]),
    (".list[0,2].k", ["x", "z"]),
    (".list[5].k", []),
    (".list[?(@.k=='y')].n", [2]),
    ('.list[?(@.k=="y")].n', [2]),
    (".list[?(@.n>1)].k", ["y"]),
    (".list[?(@.n!=1)].k", ["y"]),
    (".list[?(@.n)].k", ["x", "y"]),
    (".list[?(@.k=='a)b')].k", []),
    (".list[?(@.n=='1')].k", []),
    (".a[0]", []),
    (".a[?(@.x==1)]", []),
    (".nothing", [None]),
    (".nothing.more", []),
    ("..n", [1, 2]),
    (".deep..k", [{"k": "inner"}, "inner"]),
    ("$.a['d/e']", [2]),
    (".absent", []),
    ("", [OBJECT]),
]


@pytest.mark.parametrize(("path", "values"), PATHS)
def test_a_path_leads_to_its_values(path: str, values: list[Any]) -> None:
    assert find(OBJECT, parse(path)) == values


@pytest.mark.parametrize("path", [".a[", ".a[x]", ".a[?(@.b", ".a[?(@.b)", "'a", "#", ".a" * 4000])
def test_a_path_that_cannot_be_read_is_refused(path: str) -> None:
    with pytest.raises(JsonPathError):
        parse(path)


MULTIPLIED = ["..a..a..a..a.*", ".l[?(@..a..a..a..a.*==1)]", ".l[0]" + ".a" * 12 + "[" + "*," * 1000 + "*]"]


@pytest.mark.parametrize("path", MULTIPLIED, ids=range(len(MULTIPLIED)))
def test_values_that_multiply_are_not_all_looked_at(path: str) -> None:
    """A long list to which the path leads in hundreds of ways."""
    deep: Any = list(range(20_000))
    for _ in range(12):
        deep = {"a": deep}
    tracemalloc.start()
    try:
        assert find({"l": [deep]}, parse(path)) == []
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_paths_can_share_a_budget() -> None:
    budget, path = PathBudget(20), parse(".list[*].n")
    assert [find(OBJECT, path, budget) for _ in range(3)] == [[1, 2], [1, 2], []]


def test_a_path_may_not_nest_without_end() -> None:
    with pytest.raises(JsonPathError):
        parse("[?(@.a" * 400)


SHOWN = [("x", "x"), (None, "<no value>"), (1.5, "1.5"), (True, "true"), ([1, "<"], '[1,"\\u003c"]')]


@pytest.mark.parametrize(("value", "text"), SHOWN)
def test_values_are_shown_as_go_shows_them(value: Any, text: str) -> None:
    assert shown(value) == text


@settings(max_examples=300, deadline=None)
@given(path=st.text(alphabet=".[]?()@=<>!'\"*:,-0a k\\$", max_size=24))
def test_any_text_is_a_path_or_is_refused(path: str) -> None:
    try:
        steps = parse(path)
    except JsonPathError:
        return
    assert isinstance(find(OBJECT, steps), list)
