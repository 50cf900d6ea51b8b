"""Cron schedules: read, refused and due as robfig/cron has it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values.cron import InvalidSchedule, parse

NOON = "2026-11-15T12:00:00Z"  # a Sunday

DUE = [
    ("* * * * *", NOON, "2026-11-15T12:01:00Z", "the minute that is now does not count"),
    ("* * * * *", "2026-11-15T11:59:59.9Z", NOON, "fractions of a second are dropped"),
    ("*/25 * * * *", "2026-11-15T12:50:00Z", "2026-11-15T13:00:00Z", "steps begin anew in each hour"),
    (
        "5/15 * * * *",
        "2026-11-15T12:20:00Z",
        "2026-11-15T12:35:00Z",
        "a value with a step goes on",
    ),
    ("1-10/4 * * * *", "2026-11-15T12:05:00Z", "2026-11-15T12:09:00Z", "a step in a range"),
    ("1-10/4 * * * *", "2026-11-15T12:09:00Z", "2026-11-15T13:01:00Z", "the range ends"),
    ("7,3,+5,09 * * * *", "2026-11-15T12:07:00Z", "2026-11-15T12:09:00Z", "lists in any order, Go's numbers"),
    ("*-5-9 * * * *", NOON, "2026-11-15T12:01:00Z", "what follows a star is not looked at"),
    ("0 0 * jan,Mar-APR ?", NOON, "2027-01-01T00:00:00Z", "names of months, however spelled"),
    ("0 0 * * mon-WED", NOON, "2026-11-16T00:00:00Z", "names of days"),
    ("0 0 20 * MON", NOON, "2026-11-16T00:00:00Z", "a day of the month or of the week: the sooner"),
    ("0 0 20 * THU", "2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z", "and then the other"),
    ("0 0 20 * */1", NOON, "2026-11-20T00:00:00Z", "a step of one is still a star"),
    ("0 0 20 * */2", NOON, "2026-11-17T00:00:00Z", "a greater step is none: either will do"),
    ("0 0 */2 * MON", NOON, "2026-11-16T00:00:00Z", "for days of the month as well"),
    ("0 0 1,* * MON", NOON, "2026-11-16T00:00:00Z", "a star in a list is a star"),
    ("0 0 29 2 *", NOON, "2028-02-29T00:00:00Z", "leap years"),
    ("0 0 31 4-6 *", NOON, "2027-05-31T00:00:00Z", "months without such a day are passed"),
    (" 0\t0 *  *\u00a0* ", NOON, "2026-11-16T00:00:00Z", "spaces of all sorts"),
    ("@yearly", NOON, "2027-01-01T00:00:00Z", "descriptor"),
    ("@annually", NOON, "2027-01-01T00:00:00Z", "descriptor"),
    ("@monthly", NOON, "2026-12-01T00:00:00Z", "descriptor"),
    ("@weekly", NOON, "2026-11-22T00:00:00Z", "weeks begin on Sunday"),
    ("@daily", NOON, "2026-11-16T00:00:00Z", "descriptor"),
    ("@midnight", NOON, "2026-11-16T00:00:00Z", "descriptor"),
    ("@hourly", NOON, "2026-11-15T13:00:00Z", "descriptor"),
    ("@every 1h30m", "2026-11-15T12:00:07.5Z", "2026-11-15T13:30:07Z", "an interval ends on a second"),
    ("@every 2.9s", NOON, "2026-11-15T12:00:02Z", "whole seconds"),
    ("@every 10ms", NOON, "2026-11-15T12:00:01Z", "at least one"),
    ("@every -5h", NOON, "2026-11-15T12:00:01Z", "never backwards"),
    ("TZ=Asia/Tokyo 0 9 * * *", NOON, "2026-11-16T00:00:00Z", "a time zone"),
    ("CRON_TZ=America/New_York @daily", NOON, "2026-11-16T05:00:00Z", "the other spelling, a descriptor"),
    ("TZ= 0 13 * * *", NOON, "2026-11-15T13:00:00Z", "no name is UTC"),
]


@pytest.mark.parametrize(("text", "after", "next_time", "reason"), DUE)
def test_a_schedule_is_due_next(text: str, after: str, next_time: str, reason: str) -> None:
    assert parse(text).next(datetime.fromisoformat(after)) == datetime.fromisoformat(next_time), reason


CHANGES = [
    (
        "Europe/Berlin",
        "30 2 * * *",
        "2026-03-28T03:00+01",
        "2026-03-30T02:30+02",
        "no such hour: wait a day",
    ),
    (
        "Europe/Berlin",
        "30 2 * * *",
        "2026-10-24T03:00+02",
        "2026-10-25T02:30+02",
        "twice: the first one",
    ),
    ("Europe/Berlin", "30 2 * * *", "2026-10-25T02:30+02", "2026-10-25T02:30+01", "and the second"),
    (
        "Europe/Berlin",
        "0 * * * *",
        "2026-03-29T01:00+01",
        "2026-03-29T03:00+02",
        "hours that there are",
    ),
    (
        "America/Sao_Paulo",
        "0 0 * * *",
        "2018-11-03T12:00-03",
        "2018-11-05T00:00-02",
        "a day without midnight",
    ),
    (
        "America/Sao_Paulo",
        "0 1 * * SAT",
        "2018-11-03T02:00-03",
        "2018-11-04T01:00-02",
        "Saturday goes on",
    ),
    ("Australia/Lord_Howe", "15 2 * * *", "2026-10-03T03:00+10:30", "2026-10-05T02:15+11", "half an hour"),
    (
        "Asia/Kathmandu",
        "0 6 * * *",
        "2026-11-15T12:00Z",
        "2026-11-16T06:00+05:45",
        "quarters of an hour",
    ),
]


@pytest.mark.parametrize(("zone", "text", "after", "next_time", "reason"), CHANGES)
def test_clocks_are_changed_as_the_library_sees_it(
    zone: str, text: str, after: str, next_time: str, reason: str
) -> None:
    start, expected = (datetime.fromisoformat(time).astimezone(UTC) for time in (after, next_time))
    assert parse(f"TZ={zone} {text}").next(start) == expected, reason
    # Without a zone of its own a schedule uses the time zone of its argument.
    answer = parse(text).next(start.astimezone(ZoneInfo(zone)))
    assert answer is not None
    assert (answer.astimezone(UTC), answer.tzinfo) == (expected, ZoneInfo(zone)), reason


NEVER = [
    ("0 0 30 2 *", NOON, "no such day"),
    (", * * * *", NOON, "a comma alone lists nothing"),
    ("0 , * * *", NOON, "no hours"),
    ("0 0 29 2 *", "2096-03-01T00:00:00Z", "2100 is no leap year: the next is more than five years off"),
    ("0 0 1 1 *", "9999-06-01T00:00:00Z", "the calendar ends"),
    ("@every 1h", "9999-12-31T23:30:00Z", "for intervals too"),
    ("TZ=Pacific/Apia 0 0 1 1 FRI", "0001-01-01T00:00:00Z", "before the calendar begins"),
    (
        "TZ=Pacific/Apia 0 0 * * FRI",
        "2011-12-28T00:00:00Z",
        "a day left out stops the library for good",
    ),
]


@pytest.mark.parametrize(("text", "after", "reason"), NEVER)
def test_a_schedule_may_never_be_due(text: str, after: str, reason: str) -> None:
    assert parse(text).next(datetime.fromisoformat(after)) is None, reason


ATOI = "strconv.Atoi: parsing"
BIG = "9" * 20
REFUSED = [
    ("", "empty spec string"),
    ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
    (" @daily", "expected exactly 5 fields, found 1: [@daily]"),
    ("*\x1c* * * *", "expected exactly 5 fields, found 4: [*\x1c* * * *]"),
    ("TZ=UTC", "expected exactly 5 fields, found 0: []"),
    ("70 * * * *", "end of range (70) above maximum (59): 70"),
    ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
    ("* * * * 7", "end of range (7) above maximum (6): 7"),
    ("* 9-8 * * *", "beginning of range (9) beyond end of range (8): 9-8"),
    ("* 25/2 * * *", "beginning of range (25) beyond end of range (23): 25/2"),
    ("*/0 * * * *", "step of range should be a positive number: */0"),
    ("*/-2 * * * *", "negative number (-2) not allowed: -2"),
    ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
    ("1/2/3 * * * *", "too many slashes: 1/2/3"),
    ("x * * * *", f'failed to parse int from x: {ATOI} "x": invalid syntax'),
    ("jan * * * *", f'failed to parse int from jan: {ATOI} "jan": invalid syntax'),
    ("-5 * * * *", f'failed to parse int from : {ATOI} "": invalid syntax'),
    (f"{BIG} * * * *", f'failed to parse int from {BIG}: {ATOI} "{BIG}": value out of range'),
    ("@foo", "unrecognized descriptor: @foo"),
    ("@every", "unrecognized descriptor: @every"),
    ("@Daily", "unrecognized descriptor: @Daily"),
    ("@every ", 'failed to parse duration @every : time: invalid duration ""'),
    ("@every 1", 'failed to parse duration @every 1: time: missing unit in duration "1"'),
    ("@every 1d", 'failed to parse duration @every 1d: time: unknown unit "d" in duration "1d"'),
    ("@every ü", r'failed to parse duration @every ü: time: invalid duration "\xc3\xbc"'),
    ('@every "', r'failed to parse duration @every ": time: invalid duration "\""'),
    ("@every .s", 'failed to parse duration @every .s: time: invalid duration ".s"'),
    ("@every 9999999h", 'failed to parse duration @every 9999999h: time: invalid duration "9999999h"'),
    (f"@every {BIG}d", f'failed to parse duration @every {BIG}d: time: invalid duration "{BIG}d"'),
    ("TZ=Nope/X * * * * *", "provided bad location Nope/X: unknown time zone Nope/X"),
    ("TZ=Europe * * * * *", "provided bad location Europe: unknown time zone Europe"),
    ("TZ=a\0b * * * * *", "provided bad location a\0b: unknown time zone a\0b"),
    ("TZ=../x * * * * *", "provided bad location ../x: time: invalid location name"),
    ("CRON_TZ=/etc/x * * * * *", "provided bad location /etc/x: time: invalid location name"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_an_invalid_schedule_is_refused_with_the_words_of_the_library(text: str, message: str) -> None:
    with pytest.raises(InvalidSchedule) as caught:
        parse(text)
    assert str(caught.value) == message
    assert "five fields" in caught.value.hint


def test_a_zone_with_endless_folders_is_unknown() -> None:
    with pytest.raises(InvalidSchedule, match="unknown time zone"):
        parse("TZ=" + "a/" * 100_000 + "a * * * * *")


ONE_FIELD = st.from_regex(r"[*?]|[0-9]{1,2}(-[0-9]{1,2})?(/[0-9])?", fullmatch=True)


@given(
    st.text("0123456789*/-,? @TZ=UTCevrymhdailyjanMON", max_size=40)
    | st.lists(ONE_FIELD, min_size=5, max_size=5).map(" ".join)
)
def test_any_text_is_a_schedule_that_goes_forward_or_is_refused(text: str) -> None:
    start = datetime(2026, 11, 15, 12, tzinfo=UTC)
    try:
        next_time = parse(text).next(start)
    except InvalidSchedule:
        return
    assert next_time is None or start + timedelta(seconds=1) <= next_time
