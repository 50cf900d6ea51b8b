"""Sprig's JSON. The answers are those of the Go library."""

from __future__ import annotations

import pytest

from tests.support.functions.sprig import error_of, rendered

ANSWERS = [
    (
        '{{ toJson (dict "b" 1 "a" (list 1.0 2.5 nil true "<&>\\u2028")) }}',
        '{"a":[1,2.5,null,true,"\\u003c\\u0026\\u003e\\u2028"],"b":1}',
        "keys sorted, HTML escaped",
    ),
    ('{{ toRawJson (dict "a" "<&>\\\\u003c") }}', '{"a":"<&>\\\\u003c"}', "HTML stays, a written escape too"),
    ('{{ mustToRawJson (list "é\\u2028") }}', '["é\\u2028"]', "HTML stays, a written escape too"),
    (
        '{{ toPrettyJson (dict "a" (list 1 (dict)) "b" (list) "c" (dict "d" "x: {,}")) }}',
        '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": [],\n  "c": {\n    "d": "x: {,}"\n  }\n}',
        "indented, empty things on one line",
    ),
    (
        '{{ toJson (toDate "2006-01-02T15:04:05.000Z07:00" "2024-02-29T01:02:03.500+02:00") }}',
        '"2024-02-29T01:02:03.5+02:00"',
        "times, versions and typed lists",
    ),
    ('{{ toJson (semver "v1.2") }}', '"1.2.0"', "times, versions and typed lists"),
    ("{{ toJson (until 2) }}", "[0,1]", "times, versions and typed lists"),
    ('{{ toJson (float64 "nan") }}', "", "what has no JSON is nothing"),
    ('{{ toPrettyJson (float64 "inf") }}', "", "what has no JSON is nothing"),
    ("{{ toJson 1e21 }}", "1e+21", "Go's exponents"),
    ("{{ toJson 1e-7 }}", "1e-7", "Go's exponents"),
    ("{{ toJson 100000000000000000000.0 }}", "100000000000000000000", "Go's exponents"),
    (
        '{{ fromJson "{\\"a\\":[1,-0,null,1.5e3,\\"\\\\u00e9\\"]}" }}',
        "map[a:[1 -0 <nil> 1500 é]]",
        "numbers are floats",
    ),
    ('{{ typeOf (index (fromJson "[1]") 0) }}', "float64", "numbers are floats"),
    ('{{ fromJson "{" }}', "<no value>", "what is no JSON is nil"),
    ('{{ fromJson "" | kindOf }}', "invalid", "what is no JSON is nil"),
    ('{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toJson $d }}|', "|", "a map in itself has no JSON"),
]
ERRORS = [
    ('{{ mustFromJson "{" }}', "unexpected end of JSON input", "ends early"),
    ('{{ mustFromJson "[1,]" }}', "invalid character ']' looking for beginning of value", "a comma too many"),
    ('{{ mustToJson (float64 "inf") }}', "json: unsupported value: +Inf", "infinity"),
    ('{{ toRawJson (float64 "nan") }}', "json: unsupported value: NaN", "NaN"),
    (
        '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ mustToJson $d }}',
        "json: unsupported value: encountered a cycle via map[string]interface {}",
        "a map in itself",
    ),
]


@pytest.mark.parametrize(("template", "text", "reason"), ANSWERS)
def test_a_template_equals_the_output_of_go(template: str, text: str, reason: str) -> None:
    assert rendered(template) == text, reason


@pytest.mark.parametrize(("template", "message", "reason"), ERRORS)
def test_a_call_fails_in_the_words_of_go(template: str, message: str, reason: str) -> None:
    assert error_of(template) == message, reason
