"""What holds for every input of sprig's functions."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.errors import CrossplyError
from crossply.functions.builtin.go_templating.engine.go_types import Int64
from crossply.functions.builtin.go_templating.engine.limits import LimitExceeded
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.functions.builtin.go_templating.sprig import FUNCTIONS
from crossply.functions.builtin.go_templating.sprig.casting import wrap64
from crossply.functions.builtin.go_templating.sprig.date_layouts import shown
from crossply.functions.builtin.go_templating.sprig.date_parser import read
from crossply.functions.builtin.go_templating.sprig.deep_equality import deep_copy, deep_equal
from crossply.functions.builtin.go_templating.sprig.go_time import Time, civil, zone_named
from crossply.values.durations import duration_text, parse_duration

UNTIMED = settings(deadline=None)
MANY = settings(max_examples=200, deadline=None)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
TEXTS = st.text(max_size=30) | st.binary(max_size=12).map(
    lambda data: data.decode("utf-8", "surrogateescape")
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | INT64.map(Int64) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=10,
)
ON_TEXTS = sorted(
    name
    for name, function in FUNCTIONS.items()
    if not function.slow and set(function.parameters) == {"string"} and not function.variadic
)
ON_VALUES = sorted(
    name
    for name, function in FUNCTIONS.items()
    if not function.slow and set(function.parameters) == {"interface {}"}
)


def call(name: str, *args: Any) -> Any:
    return FUNCTIONS[name].call(*args)


def answers_or_fails_in_order(name: str, args: list[Any]) -> None:
    """Call a function; whatever it raises that the engine does not expect, fails the test."""
    with suppress(FunctionFailed, LimitExceeded, CrossplyError):
        call(name, *args[: len(FUNCTIONS[name].parameters)])


@MANY
@given(st.sampled_from(ON_TEXTS), st.lists(TEXTS, min_size=3, max_size=3))
def test_a_function_of_texts_answers_or_fails_in_order(name: str, texts: list[str]) -> None:
    answers_or_fails_in_order(name, texts)


@MANY
@given(st.sampled_from(ON_VALUES), st.lists(VALUES, min_size=2, max_size=2))
def test_a_function_of_anything_answers_or_fails_in_order(name: str, values: list[Any]) -> None:
    answers_or_fails_in_order(name, values)


@UNTIMED
@given(TEXTS)
def test_encoded_texts_come_back(text: str) -> None:
    assert call("b64dec", call("b64enc", text)) == text
    assert call("b32dec", call("b32enc", text)) == text


@UNTIMED
@given(INT64)
def test_a_written_duration_is_read_as_the_same(nanoseconds: int) -> None:
    assert abs(parse_duration(duration_text(nanoseconds)) - nanoseconds) <= 1


@UNTIMED
@given(st.integers(-62_135_596_800, 253_402_300_799))
def test_the_calendar_agrees_with_python(unix: int) -> None:
    expected = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=unix)
    actual = civil(Time(unix))
    assert actual[:3] == (expected.year, expected.month, expected.day)
    assert actual[5:] == (expected.hour, expected.minute, expected.second)
    assert (actual.year_day, actual.week_day) == (expected.timetuple().tm_yday, expected.isoweekday() % 7)


@UNTIMED
@given(
    st.integers(-62_135_000_000, 253_402_000_000),
    st.integers(0, 999_999_999),
    st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]),
)
def test_a_formatted_time_parses_to_the_same(unix: int, nanos: int, zone: str) -> None:
    layout = "2006-01-02T15:04:05.999999999Z07:00:00"
    time = read(layout, shown(Time(unix, nanos, zone_named(zone)), layout))
    assert (time.unix, time.nanos) == (unix, nanos)


@UNTIMED
@given(VALUES)
def test_a_copy_is_deeply_equal_and_shares_nothing(value: Any) -> None:
    original = {"value": value, "list": []}
    copied = deep_copy(original)
    assert deep_equal(copied, original)
    copied["list"].append(1)
    assert not deep_equal(copied, original)


@UNTIMED
@given(INT64, INT64)
def test_quotient_and_remainder_make_the_dividend(one: int, other: int) -> None:
    if other:
        quotient, remainder = call("div", one, other), call("mod", one, other)
        assert wrap64(quotient * other + remainder) == one
        assert abs(remainder) < abs(other)
