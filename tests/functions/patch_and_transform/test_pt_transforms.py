"""The result of each transform, and its error message."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.functions.patch_and_transform import transform


def string(**settings: Any) -> dict[str, Any]:
    return {"type": "string", "string": settings}


def convert(**settings: Any) -> dict[str, Any]:
    return {"type": "convert", "convert": settings}


def math(**settings: Any) -> dict[str, Any]:
    return {"type": "math", "math": settings}


def match(*patterns: Any, **settings: Any) -> dict[str, Any]:
    return {"type": "match", "match": {"patterns": list(patterns), **settings}}


DOUBLE = math(type="Multiply", multiply=2)


@pytest.mark.parametrize(
    ("steps", "value", "result", "why"),
    [
        ([DOUBLE], 21, 42, "numbers are doubles, whole ones leave as integers"),
        ([DOUBLE], 1.25, 2.5, "fractions are kept"),
        ([DOUBLE, string(type="Format", fmt="%d")], 4, "%!d(float64=8)", "a product of a double is a double"),
        (
            [math(type="ClampMax", clampMax=9), string(type="Format", fmt="%d")],
            12,
            "9",
            "a bound is an integer",
        ),
        ([math(type="ClampMax", clampMax=9)], 9.7, 9.7, "fractions do not count against a bound"),
        ([math(type="ClampMin", clampMin=3)], 2.9, 3, "nor do they help to reach one"),
        ([{"type": "map", "map": {"eu": ["a", 1]}}], "eu", ["a", 1], "a map holds any value"),
        ([match({"type": "literal", "literal": "x", "result": 1})], "y", None, "nothing fits: null"),
        (
            [match({"type": "regexp", "regexp": "^a.*z$", "result": {"k": "v"}})],
            "abz",
            {"k": "v"},
            "a pattern",
        ),
        ([match({"type": "regexp", "regexp": "b", "result": 1})], "abc", 1, "a regexp need not fit it all"),
        (
            [match({"type": "literal", "literal": "x", "result": 1}, fallbackTo="Input")],
            "y",
            "y",
            "the input itself",
        ),
        ([match({"type": "literal", "literal": "x"})], "x", None, "a result may be left out"),
        ([string(type="Format", fmt="%s-%%")], "a", "a-%", "a percent sign"),
        ([string(type="Format", fmt="v%v")], 1.5, "v1.5", "a number"),
        ([string(type="Convert", convert="ToUpper")], "straße", "STRAßE", "one letter for one letter"),
        ([string(type="Convert", convert="ToLower")], "ΑΣ", "ασ", "no special end of a word"),
        (
            [string(type="Convert", convert="ToJson")],
            {"b": 1, "a": "<"},
            '{"a":"\\u003c","b":1}',
            "as Go writes it",
        ),
        ([string(type="Convert", convert="ToBase64")], "hi", "aGk=", "text"),
        ([string(type="Convert", convert="FromBase64")], "aGk=", "hi", "text"),
        ([string(type="Convert", convert="FromBase64")], "/w==", "\ufffd", "bytes that are no text"),
        (
            [string(type="Convert", convert="FromBase64"), string(type="Convert", convert="ToBase64")],
            "/wD+",
            "/wD+",
            "bytes survive between transforms",
        ),
        (
            [string(type="Convert", convert="FromBase64"), string(type="Regexp", regexp={"match": "."})],
            "/w==",
            "\ufffd",
            "a regexp sees a replacement character",
        ),
        ([string(type="Convert", convert="ToAdler32")], "abc", "38600999", "a checksum"),
        (
            [string(type="Convert", convert="ToSha1")],
            "abc",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "the bytes of a string",
        ),
        (
            [string(type="Convert", convert="ToSha256")],
            {},
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
            "the JSON of anything else",
        ),
        ([string(type="TrimPrefix", trim="a")], "aab", "ab", "once"),
        ([string(type="TrimSuffix", trim="z")], "abc", "abc", "only if it is there"),
        (
            [string(type="Regexp", regexp={"match": "(x)|(b)", "group": 1})],
            "b",
            "",
            "a group that took no part",
        ),
        ([string(type="Join", join={"separator": ","})], ["a", 1, None], "a,1,<nil>", "any elements"),
        (
            [string(type="Join", join={"separator": "--"})],
            ["a", "b"],
            "a--b-",
            "one byte of the separator is cut",
        ),
        ([string(type="Join", join={"separator": ""})], ["a", "b"], "ab", "nothing is cut off nothing"),
        ([string(type="Join", join={"separator": ","})], [], "", "nothing to join"),
        ([string(type="Replace", replace={"search": "a", "replace": "b"})], "aXa", "bXb", "everywhere"),
        ([convert(toType="int64")], "-12", -12, "text to integer"),
        ([convert(toType="int")], -1.9, -1, "toward zero"),
        ([convert(toType="int64")], 1e30, -(2**63), "what does not fit becomes the smallest"),
        ([convert(toType="float64")], True, 1, "boolean to number"),
        ([convert(toType="bool")], 1, True, "only one is true"),
        ([convert(toType="bool")], "f", False, "a spelling of false"),
        ([convert(toType="string")], 1e21, "1000000000000000000000", "no exponent"),
        ([convert(toType="string")], False, "false", "boolean to text"),
        ([convert(toType="float64", format="quantity")], "1Gi", 1073741824, "a quantity"),
        ([convert(toType="array", format="json")], '[1,{"a":null}]', [1, {"a": None}], "JSON"),
        ([convert(toType="object", format="json")], "null", None, "null is no object but passes"),
        ([convert(toType="string", format="json")], "{", "{", "the same type is left alone"),
    ],
)
def test_a_transform_makes(steps: list[Any], value: Any, result: Any, why: str) -> None:
    assert transform(value, *steps) == result, why


@pytest.mark.parametrize(
    ("step", "value", "problem"),
    [
        (
            DOUBLE,
            "1",
            "input is required to be a number for math transformer, got string",
        ),
        ({"type": "map", "map": {"a": 1}}, "b", "key b is not found in map"),
        (
            {"type": "map", "map": {"a": 1}},
            1,
            "type float64 is not supported for map transform",
        ),
        (
            {"type": "map", "map": {"a": None}},
            "a",
            "value for key a is not valid JSON: unexpected end of JSON input",
        ),
        (
            match({"literal": "a", "result": 1}),
            "a",
            "cannot match pattern at index 0: unsupported pattern type ''",
        ),
        (
            match({"type": "regexp", "regexp": "a", "result": 1}),
            None,
            "cannot match pattern at index 0: unsupported input type 'null'",
        ),
        (
            match({"type": "literal", "literal": "a"}, fallbackTo="Input", fallbackValue=1),
            "b",
            "cannot set both a fallback value and the fallback to input flag",
        ),
        (
            string(type="Convert", convert="FromBase64"),
            "aGk",
            "string is not valid base64: illegal base64 data at input byte 0",
        ),
        (
            string(type="Convert", convert="Rot13"),
            "a",
            "type Rot13 is not supported for string convert",
        ),
        (
            string(type="Regexp", regexp={"match": "a(b)", "group": 2}),
            "ab",
            'regexp "a(b)" had no matches for group 2',
        ),
        (
            string(type="Regexp", regexp={"match": "a", "group": -1}),
            "a",
            'regexp "a" cannot have a negative group -1',
        ),
        (
            string(type="Join", join={"separator": ","}),
            "ab",
            "could not parse input array",
        ),
        (
            convert(toType="int64"),
            "1.5",
            'strconv.ParseInt: parsing "1.5": invalid syntax',
        ),
        (
            convert(toType="bool"),
            {},
            "invalid input type map[string]interface {}",
        ),
        (
            convert(toType="array"),
            True,
            "conversion from bool to array is not supported with format none",
        ),
        (
            convert(toType="object", format="json"),
            "[]",
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ],
)
def test_a_transform_refuses(step: Any, value: Any, problem: str) -> None:
    assert transform(value, step) == f"{step['type']} transform could not resolve: {problem}"


def test_a_number_that_json_cannot_hold_is_refused_as_it_is_written() -> None:
    problem = transform("-Inf", convert(toType="float64"))
    assert problem.endswith("patch at index 0: cannot marshal value to JSON: json: unsupported value: -Inf")


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (
            string(type="Replace", replace={"search": "a", "replace": "b" * 100_000}),
            "a replacement for every letter",
        ),
        (string(type="Format", fmt="%[1]s" * 50_000), "a format that repeats its value"),
    ],
)
def test_a_text_cannot_grow_without_bound(step: Any, why: str) -> None:
    assert "text is longer than" in transform("a" * 1000, step), why


def test_a_separator_cannot_make_a_text_grow_without_bound() -> None:
    assert "text is longer than" in transform(
        ["a"] * 2000, string(type="Join", join={"separator": "-" * 10_000})
    )


def test_transforms_run_in_their_order_and_a_failure_names_its_transform() -> None:
    steps = [convert(toType="int64"), string(type="Format", fmt="%03d"), DOUBLE]
    assert transform("7", *steps[:2]) == "007"
    patch_failed = transform("7", *steps)
    assert patch_failed.startswith("math transform could not resolve")
