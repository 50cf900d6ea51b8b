"""Comments are carried from one text into another, and never change what it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values.yaml import dump, load
from crossply.values.yaml.comments import END, Comment, dump_with, moved, read_comments


@pytest.mark.parametrize(
    ("text", "comments", "reason"),
    [
        ("a: 1 # one\n", [Comment(("a",), "# one", True)], "beside an entry"),
        ("a: 1\n# two\n# lines\nb: 2\n", [Comment(("b",), "# two"), Comment(("b",), "# lines")], "above one"),
        ("# all\nb: 1\n", [Comment((), "# all")], "above everything: about the document"),
        ("a: 1\n# last\n", [Comment(END, "# last")], "below everything"),
        ("- x\n# y\n- y # z\n", [Comment((1,), "# y"), Comment((1,), "# z", True)], "items of a list"),
        ("- a: 1 # x\n", [Comment((0, "a"), "# x", True)], "the innermost entry of the line"),
        ("m: {a: 1, b: [2]} # x\n", [Comment(("m",), "# x", True)], "brackets belong to their entry"),
        ("m: [1, # x\n  2]\n", [Comment(("m",), "# x", True)], "brackets over several lines"),
        ("a: |\n  # text\n", [], "the text of a block is no comment"),
        ("a: | # head\n  x\n", [Comment(("a",), "# head", True)], "the head of a block may have one"),
        ("a: |\n  x\n\n# y\nb: 1\n", [Comment(("b",), "# y")], "after a block"),
        ("a: 'x # y'\nb: \"# z\"\nc: u#v\n", [], "text in quotes, and a mark within a word"),
        ("a: 1 # x\n---\nb: 1 # y\n", [Comment(("a",), "# x", True)], "only the first document"),
        ("? [a]\n: 1 # x\n", [], "keys that are no text cannot be carried along"),
        ("{ # x", [], "what cannot be read has no comments"),
    ],
)
def test_a_comment_belongs_to_an_entry(text: str, comments: list[Comment], reason: str) -> None:
    assert read_comments(text.encode()) == comments, reason


def test_comments_move_with_their_values() -> None:
    comments = [Comment(("a", "b"), "# 1"), Comment(("a", "c"), "# 2"), Comment(("z",), "# 3")]
    paths = [comment.path for comment in moved(comments, [(("a",), ("x", 0)), (("a", "c"), ("y",))])]
    assert paths == [("x", 0, "b"), ("y",), ("z",)]


def test_a_comment_whose_entry_is_gone_stands_above_its_parent() -> None:
    comments = [Comment(("a", 0, "gone", "deep"), "# kept", True)]
    assert dump_with({"a": [{"b": 1}]}, comments) == "a:\n# kept\n- b: 1\n"


def test_a_second_comment_of_a_line_stands_above_it() -> None:
    comments = [Comment(("a",), "# 1", True), Comment(("a",), "# 2", True)]
    assert dump_with({"a": 1}, comments) == "# 2\na: 1 # 1\n"


def test_a_text_over_several_lines_gets_its_comment_above() -> None:
    value = {"a": "word " * 60 + "end"}
    assert dump_with(value, [Comment(("a",), "# x", True)]) == "# x\n" + dump(value)


WORDS = st.text(alphabet="ab:#-|>'\"{}[], \n", max_size=8)
SCALARS = st.sampled_from([None, True, 7, "a long text " * 12]) | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
PATHS = st.lists(WORDS | st.integers(0, 2), max_size=3).map(tuple)


@given(VALUES, st.lists(st.builds(Comment, PATHS, st.just("# x"), st.booleans()), max_size=4))
def test_no_comment_changes_the_meaning(value: object, comments: list[Comment]) -> None:
    assert load(dump_with(value, comments)) == load(dump(value))


@given(st.text(alphabet="ab:#-|>'\"{}[], \n", max_size=40))
def test_any_text_can_be_searched(text: str) -> None:
    read_comments(text.encode())
