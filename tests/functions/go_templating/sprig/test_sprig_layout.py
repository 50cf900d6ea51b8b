"""Sprig's functions that lay text out. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import rendered

ANSWERS = [
    ('{{ indent 2 "a\\n\\nb" }}', "  a\n  \n  b", "empty lines are indented too"),
    ('{{ nindent 2 "a" }}', "\n  a", "begins a new line"),
    ('{{ abbrev 5 "hello world" }}', "he...", "a width below four changes nothing"),
    ('{{ abbrev 3 "hello" }}', "hello", "a width below four changes nothing"),
    ('{{ abbrev 20 "hello" }}', "hello", "a width below four changes nothing"),
    ('{{ abbrevboth 5 10 "1234 5678 9123" }}', "...5678...", "an ellipsis at both ends"),
    ('{{ abbrevboth 1 6 "abcdefghij" }}', "abcdefghij", "an ellipsis at both ends"),
    ('{{ abbrevboth 8 9 "abcdefghijklmnop" }}', "...ijk...", "an ellipsis at both ends"),
    ('{{ wrap 5 "the quick brownfoxes jump" }}', "the\nquick\nbrownfoxes\njump", "a long word stays whole"),
    ('{{ wrap 3 "abcdef" }}', "abcdef", "the last long word ends the text"),
    ('{{ wrap 3 "abcdef " }}', "abcdef\n", "the last long word ends the text"),
    ('{{ wrap 0 "a b" }}', "a\nb", "the least width is one"),
    ('{{ wrapWith 5 "-" "hello worlds end" }}', "hello-world-s end", "a long word is broken"),
    ('{{ wrapWith 5 "" "hello world" }}', "hello\nworld", "without separator lines are broken"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason
