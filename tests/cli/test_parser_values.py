"""Single values: durations, numbers and separators as Go reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.cli.framework.flag_values import quote, read_int, split_escaped
from crossply.values.durations import parse_duration

DURATIONS = [
    ("0", 0),
    ("1ns", 1),
    ("1us", 1000),
    ("1µs", 1000),
    ("1.5ms", 1_500_000),
    (".5s", 500_000_000),
    ("1.s", 1_000_000_000),
    ("-1m", -60_000_000_000),
    ("+1m30s", 90_000_000_000),
    ("2562047h47m16.854775807s", 2**63 - 1),
]


@pytest.mark.parametrize(("text", "nanoseconds"), DURATIONS)
def test_durations(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "-", ".s", "1.2.3s", "s", "3000000h", "1h1", "１s", "1" * 5000 + "h"])
def test_an_invalid_duration(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_64_bit_integer_is_read(value: int) -> None:
    assert read_int(str(value)) == value


@pytest.mark.parametrize("text", ["", "+", "1.0", " 1", "0x1", "９", str(2**63), "9" * 10_000])
def test_an_invalid_integer(text: str) -> None:
    with pytest.raises(ValueError, match="64 bit int"):
        read_int(text)


@given(st.lists(st.text(alphabet="ab=", min_size=1)))
def test_joined_words_split_into_the_same(parts: list[str]) -> None:
    assert split_escaped(",".join(parts), ",") == parts


SPLITS = [
    (r"a\,b,c", ["a,b", "c"], "an escaped separator stays"),
    (r"a\b", [r"a\b"], "another backslash stays itself"),
    ("a\\", ["a\\"], "so does one at the end"),
    ("a,,b", ["a", "", "b"], "an empty part in the middle counts"),
    ("a,", ["a"], "one at the end does not"),
    ("", [], "nothing is no value"),
]


@pytest.mark.parametrize(("text", "parts", "why"), SPLITS)
def test_splitting(text: str, parts: list[str], why: str) -> None:
    assert split_escaped(text, ",") == parts, why


@pytest.mark.parametrize(
    ("text", "quoted"), [('a"b', r'"a\"b"'), ("é✓", '"é✓"'), ("a\nb", r'"a\nb"'), ("\x01", r'"\x01"')]
)
def test_quoting(text: str, quoted: str) -> None:
    assert quote(text) == quoted
