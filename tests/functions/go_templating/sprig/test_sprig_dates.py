"""Sprig's dates. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    (
        '{{ toDate "2006-01-02" "2024-02-29" }}',
        "2024-02-29 00:00:00 +0000 UTC",
        "what is no date is the zero date",
    ),
    (
        '{{ toDate "2006-01-02" "2024-02-30" }}',
        "0001-01-01 00:00:00 +0000 UTC",
        "what is no date is the zero date",
    ),
    (
        '{{ toDate "2006-01-02T15:04:05Z07:00" "2024-02-29T13:04:05.25+05:30" }}',
        "2024-02-29 13:04:05.25 +0530 +0530",
        "offsets and names are kept",
    ),
    (
        '{{ toDate "2006-01-02 MST" "2024-02-29 CET" }}',
        "2024-02-29 00:00:00 +0000 CET",
        "offsets and names are kept",
    ),
    (
        '{{ toDate "2006-01-02 MST" "2024-02-29 GMT+3" }}',
        "2024-02-29 03:00:00 +0300 GMT+3",
        "offsets and names are kept",
    ),
    ('{{ date "Mon, 02 Jan 2006 15:04:05 MST" 0 }}', "Thu, 01 Jan 1970 00:00:00 UTC", "seconds since 1970"),
    ("{{ htmlDate 86400 }}", "1970-01-02", "seconds since 1970"),
    ('{{ date "2006" (toDate "2006" "1999") }}', "1999", "seconds since 1970"),
    (
        '{{ dateInZone "2006-01-02 15:04 -0700 MST" 1720000000 "America/New_York" }}',
        "2024-07-03 05:46 -0400 EDT",
        "zones, and UTC for what is none",
    ),
    (
        '{{ date_in_zone "15:04 MST" 1700000000 "Asia/Kolkata" }}',
        "03:43 IST",
        "zones, and UTC for what is none",
    ),
    ('{{ htmlDateInZone 0 "America/New_York" }}', "1969-12-31", "zones, and UTC for what is none"),
    ('{{ dateInZone "15:04" 0 "Nope" }}', "00:00", "zones, and UTC for what is none"),
    (
        '{{ date "_2 __2 002 3 03 4 04 5 05 pm PM 06 1 Jan January Mon Monday" 1709211845 }}',
        "29  60 060 1 01 4 04 5 05 pm PM 24 2 Feb February Thu Thursday",
        "every element",
    ),
    (
        (
            '{{ date "Z0700 Z07:00 Z07 -07 -0700 -07:00:00 .000 .999 ,000000 _2006 Jane 20060102" '
            '(toDate "2006-01-02T15:04:05.000Z07:00" "2024-02-29T13:04:05.120Z") }}'
        ),
        "Z Z Z +00 +0000 +00:00:00 .120 .12 ,120000 _2024 Jane 20240229",
        "zones, fractions, and words that are no elements",
    ),
    (
        '{{ toDate "02 Jan 06 3:04PM" "29 FEB 24 1:04AM" }}',
        "2024-02-29 01:04:00 +0000 UTC",
        "names in any case, days of the year",
    ),
    (
        '{{ toDate "2006 002" "2024 060" }}',
        "2024-02-29 00:00:00 +0000 UTC",
        "names in any case, days of the year",
    ),
    (
        '{{ toDate "Monday, January _2 2006" "thursday, february 29 2024" }}',
        "2024-02-29 00:00:00 +0000 UTC",
        "names in any case, days of the year",
    ),
    (
        '{{ toDate "2006-01-02 15:04:05" "2024-02-29   13:04:05.5" }}',
        "2024-02-29 13:04:05.5 +0000 UTC",
        "blanks run together, a fraction needs no layout",
    ),
    (
        '{{ toDate "06" "69" }}',
        "1969-01-01 00:00:00 +0000 UTC",
        "blanks run together, a fraction needs no layout",
    ),
    (
        '{{ toDate "06" "68" }}',
        "2068-01-01 00:00:00 +0000 UTC",
        "blanks run together, a fraction needs no layout",
    ),
    (
        '{{ dateModify "-1.5h" (toDate "2006-01-02" "2024-03-01") }}',
        "2024-02-29 22:30:00 +0000 UTC",
        "what is no duration changes nothing",
    ),
    (
        '{{ dateModify "x" (toDate "2006" "2024") }}',
        "2024-01-01 00:00:00 +0000 UTC",
        "what is no duration changes nothing",
    ),
    (
        '{{ mustDateModify "48h1ns" (toDate "2006-01-02" "2024-02-28") }}',
        "2024-03-01 00:00:00.000000001 +0000 UTC",
        "what is no duration changes nothing",
    ),
    ('{{ unixEpoch (toDate "2006-01-02" "2024-02-29") }}', "1709164800", "seconds since 1970"),
    ('{{ unixEpoch (toDate "x" "y") }}', "-62135596800", "seconds since 1970"),
    ('{{ duration "95" }}', "1m35s", "an int is none of the types it knows"),
    ("{{ duration (int64 3661) }}", "1h1m1s", "an int is none of the types it knows"),
    ("{{ duration 95 }}", "0s", "an int is none of the types it knows"),
    ('{{ duration "x" }}', "0s", "an int is none of the types it knows"),
    ('{{ duration "-1" }}', "-1s", "an int is none of the types it knows"),
    ('{{ durationRound "2h10m5s" }}', "2h", "the largest unit that it exceeds"),
    ('{{ durationRound "8761h" }}', "1y", "the largest unit that it exceeds"),
    ('{{ durationRound "-49h" }}', "2d", "the largest unit that it exceeds"),
    ('{{ durationRound "24h" }}', "24h", "the largest unit that it exceeds"),
    ("{{ durationRound (int64 90000000000) }}", "1m", "the largest unit that it exceeds"),
    ('{{ durationRound "721h" }}', "1mo", "the largest unit that it exceeds"),
    ("{{ durationRound 5 }}", "0s", "the largest unit that it exceeds"),
    (
        (
            '{{ $d := toDate "2006-01-02" "2024-02-29" }}{{ $d.Year }} {{ $d.Month }} {{ '
            '$d.Weekday }} {{ $d.YearDay }} {{ $d.AddDate 1 0 1 }} {{ $d.Unix }} {{ $d.Format "06" '
            "}} {{ $d.IsZero }}"
        ),
        "2024 February Thursday 60 2025-03-02 00:00:00 +0000 UTC 1709164800 24 false",
        "methods",
    ),
    (
        (
            '{{ $d := toDate "2006-01-02" "2024-02-29" }}{{ $d.Sub (toDate "2006-01-02" '
            '"2024-02-28") }} {{ $d.After (toDate "2006" "2023") }} {{ $d.Equal $d }} {{ $d.Before '
            "$d }}"
        ),
        "24h0m0s true true false",
        "comparing",
    ),
    (
        '{{ dateInZone "2006-01-02 15:04 -0700" 303936210723 "Europe/London" }}',
        "11601-05-10 06:12 +0100",
        "beyond the years of Python",
    ),
    (
        '{{ dateInZone "2006 -07:00:00" -99999999999 "Europe/Berlin" }}',
        "-1199 +00:53:28",
        "beyond the years of Python",
    ),
]
ERRORS = [
    (
        '{{ mustToDate "2006" "bad" }}',
        'parsing time "bad" as "2006": cannot parse "bad" as "2006"',
        "no year",
    ),
    (
        '{{ mustToDate "2006-01-02" "2024-13-01" }}',
        'parsing time "2024-13-01": month out of range',
        "no month",
    ),
    ('{{ mustToDate "2006-01-02" "2024-02-30" }}', 'parsing time "2024-02-30": day out of range', "no day"),
    ('{{ mustToDate "15:04" "25:00" }}', 'parsing time "25:00": hour out of range', "no hour"),
    (
        '{{ mustToDate "2006-01-02" "2024-02-01x" }}',
        'parsing time "2024-02-01x": extra text: "x"',
        "more than the layout",
    ),
    (
        '{{ mustToDate "2006-01-02" "2024/02/01" }}',
        'parsing time "2024/02/01" as "2006-01-02": cannot parse "/02/01" as "-"',
        "another separator",
    ),
    (
        '{{ mustToDate "2006é" "2024\\"" }}',
        'parsing time "2024\\"" as "2006\\xc3\\xa9": cannot parse "\\"" as "\\xc3\\xa9"',
        "quoted byte by byte",
    ),
    (
        '{{ mustToDate "2006 002" "2023 366" }}',
        'parsing time "2023 366": day-of-year out of range',
        "no such day of the year",
    ),
    (
        '{{ mustToDate "Z07:00" "+25:00" }}',
        'parsing time "+25:00": time zone offset hour out of range',
        "no such offset",
    ),
    ('{{ mustToDate "MST" "abc" }}', 'parsing time "abc" as "MST": cannot parse "abc" as "MST"', "no zone"),
    ('{{ mustDateModify "1x" now }}', 'time: unknown unit "x" in duration "1x"', "no unit"),
    ('{{ mustDateModify "5" now }}', 'time: missing unit in duration "5"', "without unit"),
    ('{{ mustDateModify "" now }}', 'time: invalid duration ""', "no duration"),
    ('{{ mustDateModify "9999999999h" now }}', 'time: invalid duration "9999999999h"', "too long"),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
