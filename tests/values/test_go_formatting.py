"""Sprintf: Go's verbs, flags and error texts."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values.goformat import FormatError, go_type, sprintf

ROWS: list[tuple[str, list[Any], str]] = [
    # plain verbs
    ("%s/%s", ["a", "b"], "a/b"),
    ("%v %v %v %v", ["x", 5, 2.5, True], "x 5 2.5 true"),
    ("100%%", [], "100%"),
    ("%T %T %T %T %T", ["", 1, 1.0, [], {}], "string int64 float64 []interface {} map[string]interface {}"),
    ("%v", [{"b": [1, None], "a": {"z": "y"}}], "map[a:map[z:y] b:[1 <nil>]]"),
    (
        "%#v",
        [{"b": [1, None], "a": "q\n"}],
        'map[string]interface {}{"a":"q\\n", "b":[]interface {}{1, interface {}(nil)}}',
    ),
    ("%#v", [[]], "[]interface {}{}"),
    ("%+v", [{"a": 1}], "map[a:1]"),
    # strings
    ("%8s|%-8s|%08s|", ["abc", "abc", "abc"], "     abc|abc     |00000abc|"),
    ("%.2s|%5.1s|", ["日本語", "日本語"], "日本|    日|"),
    ("%q %+q %#q", ['a"é', 'a"é', "a\\b"], '"a\\"é" "a\\"\\u00e9" `a\\b`'),
    ("%#q", ["a`b"], '"a`b"'),
    (
        "%q",
        ["\a\b\f\n\r\t\v\x00\x7f\u2028\U0001f600\U000e0001"],
        '"\\a\\b\\f\\n\\r\\t\\v\\x00\\x7f\\u2028😀\\U000e0001"',
    ),
    (
        "%x|%X|% x|%#x|% #X|%.1x",
        ["hé", "hé", "hé", "hé", "hé", "hé"],
        "68c3a9|68C3A9|68 c3 a9|0x68c3a9|0X68 0XC3 0XA9|68",
    ),
    ("%q", ["\udc80"], '"\\x80"'),
    # integers
    ("%d|%5d|%-5d|%05d|%+d|% d", [7, 7, 7, 7, 7, 7], "7|    7|7    |00007|+7| 7"),
    ("%.3d|%.0d|%5.0d|%08.3d|", [7, 0, 0, 7], "007||     |     007|"),
    ("%x %X %#x %o %O %#o %b %#b", [255, 255, 255, 8, 8, 8, 5, 5], "ff FF 0xff 10 0o10 010 101 0b101"),
    ("%x %#o", [-255, 0], "-ff 0"),
    ("%c%c|%q|%+q|%U|%#U", [72, -1, 39, 233, 233, 128512], "H�|'\\''|'\\u00e9'|U+00E9|U+1F600 '😀'"),
    ("%q %c", [0xD800, 0x110000], "'�' �"),
    ("%U|%.6U|%10U|", [-1, 65, 65], "U+FFFFFFFFFFFFFFFF|U+000041|    U+0041|"),
    # floats
    ("%v %v %v", [1e6, 123456.0, 1e-5], "1e+06 123456 1e-05"),
    ("%f %.1f %.0f %F", [1.5, 0.25, 2.5, 1.0], "1.500000 0.2 2 1.000000"),
    ("%e %E %.0e", [1234.5, 1234.5, 1.5], "1.234500e+03 1.234500E+03 2e+00"),
    ("%g %G %.3g %#g %#.3g", [1e21, 1e21, 1234.0, 1.0, 1.0], "1e+21 1E+21 1.23e+03 1.00000 1.00"),
    ("%b %b", [1.0, 0.0], "4503599627370496p-52 0p-1074"),
    ("%x %X %.1x %.0x", [1.0, 1.9375, 1.9375, 1.9375], "0x1p+00 0X1.FP+00 0x1.fp+00 0x1p+01"),
    ("%08.2f|%+08.2f|%-8.2f|% .1f", [-1.5, 1.5, 1.5, 1.5], "-0001.50|+0001.50|1.50    | 1.5"),
    ("%v %v %v %+v", [math.nan, math.inf, -math.inf, math.nan], "NaN +Inf -Inf NaN"),
    ("%05f|%+f|% f", [math.inf, math.nan, math.inf], " +Inf|+NaN| Inf"),
    ("%v %g", [-0.0, 5e-324], "-0 5e-324"),
    # nil and booleans
    ("%v|%6v|%s|%d", [None, None, None, None], "<nil>| <nil>|%!s(<nil>)|%!d(<nil>)"),
    ("%t|%6t|%-6t|%s", [True, False, True, True], "true| false|true  |%!s(bool=true)"),
    # flags reach the elements
    ("%03d", [[1, [2]]], "[001 [002]]"),
    ("%s", [[1, "a"]], "[%!s(int64=1) a]"),
    ("%x", [{"k": [10, "k"]}], "map[6b:[a 6b]]"),
    # error texts
    ("%d", ["x"], "%!d(string=x)"),
    ("%s %d", [1.5, 1.5], "%!s(float64=1.5) %!d(float64=1.5)"),
    ("%z|%!|%é", ["a", "a", "a"], "%!z(string=a)|%!!(string=a)|%!é(string=a)"),
    ("%w %w", ["a", [1]], "%!w(string=a) %!w([]interface {}=[1])"),
    ("%s %s", ["a"], "a %!s(MISSING)"),
    ("no verbs", ["a", None, 1], "no verbs%!(EXTRA string=a, <nil>, int64=1)"),
    ("100%", [], "100%!(NOVERB)"),
    ("%-", ["a"], "%!(NOVERB)%!(EXTRA string=a)"),
    # argument indexes
    ("%[2]s %[1]s", ["a", "b"], "b a"),
    ("%[2]s %s", ["a", "b", "c"], "b c"),
    ("%[1]s %[1]s", ["a", "unused"], "a a"),
    ("%[3]s %[0]s %[x]s %[]s", ["a"], "%!s(BADINDEX) %!s(BADINDEX) %!s(BADINDEX) %!s(BADINDEX)"),
    ("%[1", ["a"], "%!(NOVERB)"),
    ("%[x", ["a"], "%!x(BADINDEX)"),
    ("%[1]5d", [1], "%!d(BADINDEX)"),
    # width and precision from arguments
    ("%*d|%-*d|%*d|", [4, 7, 4, 7, -4, 7], "   7|7   |7   |"),
    ("%.*f %[2]*.[1]*f", [1, 2.25], "2.2 %!(BADWIDTH)2.2"),
    ("%*s", ["x", "y"], "%!(BADWIDTH)y"),
    ("%.*s", [-1, "y"], "%!(BADPREC)y"),
    ("%*d", [1_000_001, 1], "%!(BADWIDTH)1"),
    ("%99999999d", [1], "%!(NOVERB)%!(EXTRA int64=1)"),
]


@pytest.mark.parametrize(("format_", "args", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_sprintf_equals_that_of_go(format_: str, args: list[Any], expected: str) -> None:
    assert sprintf(format_, args) == expected


def test_a_pointer_verb_prints_some_address_for_containers_only() -> None:
    assert sprintf("%p", [[1]]).startswith("0x")
    assert sprintf("%p", [1]) == "%!p(int64=1)"


def test_the_widest_width_is_a_million() -> None:
    assert len(sprintf("%*d", [1_000_000, 1])) == 1_000_000


EXCESSES: list[tuple[str, list[Any], str]] = [
    ("%9999999d" * 10, [1] * 10, "by many widths"),
    ("%9999999v", [list(range(100))], "by a width for every element"),
    ("%[1]*[2]d" * 100, [1_000_000, 7], "by one argument used again and again"),
]


@pytest.mark.parametrize(("format_", "args", "reason"), EXCESSES, ids=[row[2] for row in EXCESSES])
def test_an_oversized_format_is_refused(format_: str, args: list[Any], reason: str) -> None:
    with pytest.raises(FormatError):
        sprintf(format_, args)


def test_deep_values_are_printed_whole() -> None:
    value: Any = "core"
    for _ in range(20_000):
        value = [value]
    assert sprintf("%v", [value]) == "[" * 20_000 + "core" + "]" * 20_000


def test_type_names_are_gos() -> None:
    assert [go_type(value) for value in (None, True, 1)] == ["<nil>", "bool", "int64"]


@given(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 25),
    st.sampled_from(["", "-", "0", "+", " ", "+0", "-+"]),
)
def test_integers_agree_with_python(number: int, width: int, flags: str) -> None:
    format_ = f"%{flags}{width or ''}d"
    assert sprintf(format_, [number]) == format_ % number


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 20), st.sampled_from("efgEG"))
def test_floats_of_fixed_precision_agree_with_python(number: float, precision: int, verb: str) -> None:
    format_ = f"%.{precision}{verb}"
    assert sprintf(format_, [number]) == format_ % number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_float_reads_back(number: float) -> None:
    assert float(sprintf("%v", [number])) == number
    assert float.fromhex(sprintf("%x", [number])) == number


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 12), st.integers(0, 6))
def test_strings_agree_with_python(text: str, width: int, precision: int) -> None:
    format_ = f"%{width or ''}.{precision}s"
    assert sprintf(format_, [text]) == format_ % text


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.text(alphabet="%#+- 0123.*[]vsdqxXeEfFgGtTbBoOcUpw!é", max_size=10), st.lists(values, max_size=4))
def test_no_format_ever_fails(format_: str, args: list[Any]) -> None:
    assert isinstance(sprintf(format_, args), str)
