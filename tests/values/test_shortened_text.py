"""Long texts in one line, such that a difference can be seen."""

from __future__ import annotations

from crossply.values.shortened_text import shortened, shortened_pair


def test_a_long_text_is_cut_to_its_beginning() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdefg", 6) == "abcdef… (7 characters)"


def test_texts_that_differ_at_their_beginning_are_cut_to_it() -> None:
    assert shortened_pair("one" + "x" * 9, "two", 8) == ("onexxxxx… (12 characters)", "two")


def test_texts_that_differ_later_are_cut_to_where_they_differ() -> None:
    before, after = shortened_pair("a" * 100 + "blue" + "c" * 100, "a" * 100 + "red", 8)
    assert before == "…aabluecc… (204 characters)"
    assert after == "…aared (103 characters)"


def test_short_texts_are_whole() -> None:
    assert shortened_pair("same one", "same two", 8) == ("same one", "same two")


def test_a_text_that_ends_where_the_other_continues_is_shown_to_its_end() -> None:
    assert shortened_pair("a" * 100, "a" * 100 + "b", 8) == ("…aa (100 characters)", "…aab (101 characters)")
