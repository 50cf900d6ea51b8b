"""Regular expressions of Go's syntax."""

from __future__ import annotations

import pytest

from crossply.values.regexp import RegexpError, compile_go


def test_a_pattern_finds_groups_like_gos() -> None:
    match = compile_go(r"(?P<zone>[a-z]+)-(\d+)").search("in eu-17!")
    assert match is not None
    assert (match.group(0), match.group("zone"), match.group(2)) == ("eu-17", "eu", "17")


def test_a_lookalike_of_a_forbidden_escape_may_be_literal() -> None:
    assert compile_go(r"\\C").search("\\C")
    assert compile_go(r"\Q\C\E").search("\\C")


REFUSED = [
    ("(", "missing closing ): `(`"),
    ("a)", "unexpected ): `a)`"),
    ("[a", "missing closing ]: `[a`"),
    ("a\\", "trailing backslash at end of expression: ``"),
    ("*", "missing argument to repetition operator: `*`"),
    ("a**", "invalid nested repetition operator: `**`"),
    ("a{1001}", "invalid repeat count: `{1001}`"),
    ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
    ("(?<=a)b", "invalid named capture: `(?<=a)b`"),
    ("(?<!a)b>c", "invalid named capture: `(?<!a)b>`"),
    ("(?P<a-b>x)", "invalid named capture: `(?P<a-b>`"),
    (r"(a)\1", r"invalid escape sequence: `\1`"),
    (r"a\C", r"invalid escape sequence: `\C`"),
    ("[z-a]", "invalid character class range: `z-a`"),
    (r"\p{Elvish}", r"invalid character class range: `\p{Elvish}`"),
]


@pytest.mark.parametrize(("pattern", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_bad_pattern_is_refused_in_gos_words(pattern: str, message: str) -> None:
    with pytest.raises(RegexpError) as caught:
        compile_go(pattern)
    assert str(caught.value) == f"error parsing regexp: {message}"


def test_a_pattern_that_would_explode_elsewhere_takes_linear_time() -> None:
    # With backtracking this would not end within the age of the universe.
    assert compile_go(r"^(a+)+$").search("a" * 20_000 + "b") is None
