"""Durations are read as Go reads them."""

from __future__ import annotations

import pytest

from crossply.values.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("20s", 20_000_000_000),
        ("1h2m3s", 3_723_000_000_000),
        ("1.5s", 1_500_000_000),
        (".5m", 30_000_000_000),
        ("2.s", 2_000_000_000),
        ("-3ms", -3_000_000),
        ("+7us", 7_000),
        ("5µs", 5_000),
        ("0000000000000000000000001s", 1_000_000_000),
    ],
)
def test_a_duration_is_a_number_of_nanoseconds(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("s", 'time: invalid duration "s"'),
        ("3", 'time: missing unit in duration "3"'),
        ("3d", 'time: unknown unit "d" in duration "3d"'),
        ("1h-2m", 'time: unknown unit "h-" in duration "1h-2m"'),
        ("9" * 400_000 + "s", "time: invalid duration"),
        ("3000000h", 'time: invalid duration "3000000h"'),
    ],
)
def test_a_malformed_duration_is_refused_with_gos_words(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^time: ") as caught:
        parse_duration(text)
    assert str(caught.value).startswith(message)
