"""Time stamps are read and written as Kubernetes does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crossply.values.timestamps import format_timestamp, parse_timestamp

TIME = datetime(2024, 5, 6, 7, 8, 9, 123456, UTC)


@pytest.mark.parametrize(
    ("precision", "text"),
    [
        ("seconds", "2024-05-06T07:08:09Z"),
        ("milliseconds", "2024-05-06T07:08:09.123Z"),
        ("microseconds", "2024-05-06T07:08:09.123456Z"),
    ],
)
def test_a_time_is_cut_to_its_precision(precision, text):
    assert format_timestamp(TIME, precision) == text


def test_years_have_four_digits():
    assert format_timestamp(datetime.min) == "0001-01-01T00:00:00Z"


@pytest.mark.parametrize("text", ["2024-05-06T07:08:09.123456Z", "2024-05-06T09:08:09.123456+02:00"])
def test_times_of_every_zone_are_read_as_utc(text):
    time = parse_timestamp(text)
    assert time == TIME
    assert time.tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "absent"),
        (5, "a number"),
        ("", "empty"),
        ("soon", "a word"),
        ("2024-05-06", "a date"),
        ("2024-05-06T07:08:09", "no zone"),
        ("2024-05-06 07:08:09Z", "a space in place of the T"),
        ("0001-01-01T00:00:00+14:00", "before the first year"),
    ],
)
def test_other_values_are_no_time_stamps(value, reason):
    assert parse_timestamp(value) is None, reason
