"""JSON as Go writes and reads it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values.gojson import JsonError, dumps, loads

WRITTEN: list[tuple[Any, str]] = [
    ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
    ({}, "{}"),
    ([], "[]"),
    ([[], {}], "[[],{}]"),
    ("<a href='x'>&</a>", "\"\\u003ca href='x'\\u003e\\u0026\\u003c/a\\u003e\""),
    ('\b\f\n\r\t"\\\x00\x1f\x7f', '"\\b\\f\\n\\r\\t\\"\\\\\\u0000\\u001f\x7f"'),
    ("é日😀\u2028\u2029", '"é日😀\\u2028\\u2029"'),
    ("\ud800", '"\\ufffd"'),
    (5.0, "5"),
    (-0.0, "-0"),
    (1e20, "100000000000000000000"),
    (1e21, "1e+21"),
    (0.000001, "0.000001"),
    (1e-7, "1e-7"),
    (1.5e-10, "1.5e-10"),
    (2**63 - 1, "9223372036854775807"),
    ({"z": 1, "é": 2, "\uffff": 3, "\U00010000": 4}, '{"z":1,"é":2,"\uffff":3,"\U00010000":4}'),
]


@pytest.mark.parametrize(("value", "text"), WRITTEN, ids=[repr(row[0])[:30] for row in WRITTEN])
def test_a_value_is_written_as_go_does(value: Any, text: str) -> None:
    assert dumps(value) == text


@pytest.mark.parametrize(("number", "name"), [(math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "-Inf")])
def test_a_number_without_json_form_is_refused(number: float, name: str) -> None:
    with pytest.raises(JsonError) as caught:
        dumps([number])
    assert str(caught.value) == f"json: unsupported value: {name}"


def test_a_thing_that_is_no_json_value_is_refused() -> None:
    with pytest.raises(JsonError, match="json: unsupported type: set"):
        dumps({"a": {1}})


def test_deep_values_are_written_whole() -> None:
    value: Any = 1
    for _ in range(20_000):
        value = [value]
    assert dumps(value) == "[" * 20_000 + "1" + "]" * 20_000


READ: list[tuple[str, Any]] = [
    (' {"a": [1, 2.0, 1e3, -0]} ', {"a": [1, 2.0, 1000.0, 0]}),
    ("9223372036854775808", 9223372036854775808.0),
    ("1" * 100, float("1" * 100)),
    ('"\\ud83d\\ude00 \\u00e9"', "😀 é"),
    ('{"a": "\\ud800x"}', {"a": "\ufffdx"}),
    ('{"a": 1, "a": 2}', {"a": 2}),
]


@pytest.mark.parametrize(("text", "value"), READ, ids=[row[0][:30] for row in READ])
def test_json_is_read(text: str, value: Any) -> None:
    assert repr(loads(text)) == repr(value)


REFUSED = [
    ("", "unexpected end of JSON input"),
    ("hello", "invalid character 'h' looking for beginning of value"),
    ("{", "unexpected end of JSON input"),
    ("{1", "invalid character '1' looking for beginning of object key string"),
    ('{"a" 1}', "invalid character '1' after object key"),
    ('{"a":1 "b"', "invalid character '\"' after object key:value pair"),
    ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
    ("[1 2]", "invalid character '2' after array element"),
    ("[1,]", "invalid character ']' looking for beginning of value"),
    ("1 2", "invalid character '2' after top-level value"),
    ("01", "invalid character '1' after top-level value"),
    ("tru", "invalid character ' ' in literal true (expecting 'e')"),
    ("nulx", "invalid character 'x' in literal null (expecting 'l')"),
    ("-", "invalid character ' ' in numeric literal"),
    ("1.x", "invalid character 'x' after decimal point in numeric literal"),
    ("1e", "invalid character ' ' in exponent of numeric literal"),
    ('"a', "unexpected end of JSON input"),
    ('"a\nb"', "invalid character '\\n' in string literal"),
    ('"\\x"', "invalid character 'x' in string escape code"),
    ('"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
    ("'a'", "invalid character '\\'' looking for beginning of value"),
    ("é", "invalid character 'Ã' looking for beginning of value"),
    ("NaN", "invalid character 'N' looking for beginning of value"),
    ("\ufeff1", "invalid character 'ï' looking for beginning of value"),
    ("1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"),
    ("[" * 10_001, "invalid character '[' exceeded max depth"),
    ("[" * 9_000 + "]" * 9_000, "exceeded max depth"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[row[0][:20] for row in REFUSED])
def test_invalid_json_is_refused_in_gos_words(text: str, message: str) -> None:
    with pytest.raises(JsonError) as caught:
        loads(text)
    assert str(caught.value) == message


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer()),
        st.text(st.characters(exclude_categories=["Cs"])),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=10,
)


@given(values)
def test_encoded_objects_decode_to_the_same(value: Any) -> None:
    text = dumps(value)
    assert json.loads(text) == loads(text)
    assert dumps(loads(text)) == text


@given(st.text(alphabet='{}[]:,"\\u0d8a1-.eE+tn ', max_size=12))
def test_any_text_is_read_or_refused_like_python_does(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(JsonError):
            loads(text)
        return
    if "inf" in repr(expected):
        with pytest.raises(JsonError, match="cannot unmarshal number"):
            loads(text)
    else:
        assert loads(text) == expected or "\\u" in text
