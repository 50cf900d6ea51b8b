"""Numbers and booleans from text, floats to text, as Go's strconv."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values.gonumbers import NumberError, format_float, parse_bool, parse_float, parse_int


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("+7", 7),
        ("-007", -7),
        (str(2**63 - 1), 2**63 - 1),
        (str(-(2**63)), -(2**63)),
        ("0" * 5000 + "1", 1),
    ],
    ids=["zero", "plus", "leading zeros", "highest", "lowest", "many zeros"],
)
def test_an_integer_is_read(text: str, number: int) -> None:
    assert parse_int(text) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "invalid syntax"),
        ("-", "invalid syntax"),
        ("1.5", "invalid syntax"),
        (" 1", "invalid syntax"),
        ("1_000", "invalid syntax"),
        ("٣", "invalid syntax"),
        (str(2**63), "value out of range"),
        (str(-(2**63) - 1), "value out of range"),
        ("9" * 5000, "value out of range"),
        ("9" * 30 + "x", "value out of range"),
    ],
)
def test_an_invalid_int64_is_refused(text: str, message: str) -> None:
    with pytest.raises(NumberError) as caught:
        parse_int(text)
    assert str(caught.value) == f'strconv.ParseInt: parsing "{text}": {message}'


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        ("-.5", -0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("0x1p-2", 0.25),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        ("1_0.5", 10.5),
        ("0x_1p4", 16.0),
        ("1e-400", 0.0),
    ],
)
def test_a_float_is_read(text: str, number: float) -> None:
    assert parse_float(text) == number


def test_nan_is_read_in_any_case() -> None:
    assert math.isnan(parse_float("nAn"))


@pytest.mark.parametrize(
    "text", ["", ".", "1e", "0x1", "1__0", "_1", "1e_5", " 1", "+nan", "infi", "1f", "٣"]
)
def test_an_invalid_float_is_refused(text: str) -> None:
    with pytest.raises(NumberError) as caught:
        parse_float(text)
    assert str(caught.value) == f'strconv.ParseFloat: parsing "{text}": invalid syntax'


@pytest.mark.parametrize("text", ["1e309", "-1e400", "0x1p1024"])
def test_a_float_too_large_is_out_of_range(text: str) -> None:
    with pytest.raises(NumberError, match="value out of range"):
        parse_float(text)


def test_booleans_have_twelve_spellings() -> None:
    assert all(parse_bool(text) for text in ("1", "t", "T", "true", "True", "TRUE"))
    assert not any(parse_bool(text) for text in ("0", "f", "F", "false", "False", "FALSE"))
    with pytest.raises(NumberError, match=r'strconv\.ParseBool: parsing "yes": invalid syntax'):
        parse_bool("yes")


@pytest.mark.parametrize(
    ("number", "verb", "precision", "text"),
    [
        (100.0, "f", -1, "100"),
        (1e21, "f", -1, "1" + "0" * 21),
        (1.5e-7, "f", -1, "0.00000015"),
        (0.0, "f", -1, "0"),
        (-0.0, "e", -1, "-0e+00"),
        (123456789.0, "e", -1, "1.23456789e+08"),
        (21.0, "g", -1, "21"),
        (1e6, "g", -1, "1e+06"),
        (1.25, "f", 1, "1.2"),
        (1.0, "x", 3, "0x1.000p+00"),
        (5e-324, "x", -1, "0x1p-1074"),
        (5e-324, "b", -1, "1p-1074"),
    ],
)
def test_floats_are_written_as_go_does(number: float, verb: str, precision: int, text: str) -> None:
    assert format_float(number, verb, precision) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from("efgx"))
def test_the_shortest_form_reads_back(number: float, verb: str) -> None:
    assert parse_float(format_float(number, verb, -1)) == number


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_int64_reads_back(number: int) -> None:
    assert parse_int(str(number)) == number


@given(st.text(alphabet="0189.eExp+-_infa ", max_size=12))
def test_any_text_is_a_number_or_refused(text: str) -> None:
    for parse in (parse_int, parse_float):
        with contextlib.suppress(NumberError):
            assert isinstance(parse(text), int | float)
