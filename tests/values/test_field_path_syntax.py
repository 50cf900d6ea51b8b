"""Field paths as text: what they mean, how they print, where they are malformed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values.field_path import PathError, parse, to_string

MEANINGS = [
    ("", (), "the empty path has no segments"),
    ("kind", ("kind",), "a single field"),
    ("spec.size", ("spec", "size"), "dots separate fields"),
    ("spec.ports[2].name", ("spec", "ports", 2, "name"), "a number in brackets is an index"),
    ("spec.2", ("spec", "2"), "a number outside brackets is a field"),
    ("a[007]", ("a", 7), "an index may have leading zeros"),
    ("a[4294967295]", ("a", 4294967295), "the highest index"),
    ("a[4294967296]", ("a", "4294967296"), "beyond 32 bits it is a field"),
    ("a[" + "9" * 5000 + "]", ("a", "9" * 5000), "a huge number is a field, and costs nothing"),
    ("a[+1]", ("a", "+1"), "a sign makes it a field"),
    ("a[٣]", ("a", "٣"), "digits of other scripts make it a field"),
    ("labels[a.b/c]", ("labels", "a.b/c"), "dots mean nothing in brackets"),
    ("labels['a.b/c']", ("labels", "a.b/c"), "quotes around a field are taken off"),
    ('labels["7"]', ("labels", "7"), "a quoted number is a field"),
    ("'a'.b", ("a", "b"), "quotes are taken off outside brackets too"),
    ("a[0]b", ("a", 0, "b"), "a field may follow brackets without a dot"),
    ("[0]", (0,), "a path may begin with an index"),
    ("items[*].name", ("items", "*", "name"), "a wildcard is a field named *"),
    ("é.日本", ("é", "日本"), "any letters will do"),
]


@pytest.mark.parametrize(
    ("path", "segments", "reason"), MEANINGS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_path_means_its_segments(path: str, segments: tuple[str | int, ...], reason: str) -> None:
    assert parse(path) == segments, reason


MALFORMED = [
    (".a", "unexpected '.' at position 0", "a dot at the beginning"),
    ("a.", "unexpected '.' at position 1", "a dot at the end"),
    ("a..b", "unexpected '.' at position 2", "two dots"),
    ("a.[0]", "unexpected '[' at position 2", "a dot before a bracket"),
    ("a[", "unterminated '[' at position 1", "nothing after the bracket"),
    ("a[0", "unterminated '[' at position 1", "no closing bracket"),
    ("a[]", "unexpected ']' at position 2", "empty brackets"),
    ("a]", "unexpected ']' at position 1", "a bracket nobody opened"),
    ("a[b[c]]", "unexpected '[' at position 3", "brackets in brackets"),
    ("é.x]", "unexpected ']' at position 4", "positions count bytes, not letters"),
]


@pytest.mark.parametrize(("path", "message", "reason"), MALFORMED, ids=[row[0] for row in MALFORMED])
def test_a_malformed_path_is_refused_with_its_place(path: str, message: str, reason: str) -> None:
    with pytest.raises(PathError) as caught:
        parse(path)
    assert str(caught.value) == message, reason
    assert not caught.value.not_found


def test_segments_print_with_brackets_only_where_they_are_needed() -> None:
    assert to_string(("a", "b.c", 3, "*", "d")) == "a[b.c][3][*].d"


names = st.text(st.characters(exclude_characters="[]'\"", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(st.one_of(names, st.integers(0, 2**32 - 1))))
def test_a_printed_path_parses_to_the_same_text(segments: list[str | int]) -> None:
    text = to_string(tuple(segments))
    try:
        parsed = parse(text)
    except PathError:
        return  # A name such as "." prints as "[.]" alone, but "" and "a." need not be paths again.
    assert to_string(parsed) == text


@given(
    st.lists(st.one_of(st.from_regex(r"[a-z*][a-z./-]*", fullmatch=True), st.integers(0, 1024)), min_size=1)
)
def test_ordinary_segments_survive_printing_and_parsing(segments: list[str | int]) -> None:
    assert parse(to_string(tuple(segments))) == tuple(segments)


@given(st.text(alphabet="ab.[]'\"*0é", max_size=12))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        segments = parse(text)
    except PathError:
        return
    assert all(isinstance(segment, str | int) for segment in segments)
