"""Errors of parsing and rendering a template. Every message was checked against Go."""

from __future__ import annotations

import pytest

from crossply.functions.builtin.go_templating.engine.errors import ExecError, OptionError, ParseError
from crossply.functions.builtin.go_templating.engine.go_types import Int64
from crossply.functions.builtin.go_templating.program import compile_text

DATA = {"s": "text", "i": Int64(7), "n": None, "l": ["b"], "m": {"a": Int64(1)}}

UNREADABLE = [
    ("{{ nope . }}", '1: function "nope" not defined', "functions must be known"),
    ("{{ env `HOME` }}", '1: function "env" not defined', "templates do not see the environment"),
    ("{{ $x }}", '1: undefined variable "$x"', "so must variables"),
    ("{{ if .s }}{{ $y := 1 }}{{ end }}{{ $y }}", '1: undefined variable "$y"', "they end with their block"),
    ("{{ .s", "1: unclosed action", "an action must be closed"),
    ("a\n{{ .s\n\n", "4: unclosed action started at manifests:2", "and says where it began"),
    ('{{ "x }}', "1: unterminated quoted string", "so must strings"),
    ("{{ `x }}", "1: unterminated raw quoted string", "raw ones"),
    ("{{ 'x }}", "1: unterminated character constant", "and characters"),
    ("{{/* x }}", "1: unclosed comment", "and comments"),
    ("{{/* x */ y }}", "1: comment ends before closing delimiter", "which fill their action"),
    ("{{ (.s }}", "1: unclosed left paren", "and parentheses"),
    ("{{ .s) }}", "1: unexpected right paren", "none too many"),
    ("{{ range .l }}", "1: unexpected EOF", "blocks have an end"),
    ("{{ end }}", "1: unexpected {{end}}", "and ends a block"),
    ("{{ else }}", "1: unexpected {{else}}", "else too"),
    ("{{ if .s }}{{ else }}{{ else }}{{ end }}", "1: expected end; found {{else}}", "only one else"),
    ("{{ if }}{{ end }}", "1: missing value for if", "if wants a value"),
    ("{{ }}", "1: missing value for command", "so does an action"),
    ("{{ 1 | 2 }}", "1: non executable command in pipeline stage 2", "a pipe leads into functions"),
    ("{{ break }}", "1: {{break}} outside {{range}}", "break belongs into a range"),
    ("{{ $x, $y := .l }}", "1: too many declarations in command", "two variables only in range"),
    ("{{ template x }}", '1: unexpected "x" in template clause', "templates are called by a string"),
    ("{{ 09 }}", '1: integer overflow: "09"', "numbers are Go's"),
    ("{{ 1abc }}", '1: bad number syntax: "1a"', "numbers end"),
    ("{{ .a@b }}", "1: bad character U+0040 '@'", "names end"),
    ("{{ § }}", "1: unrecognized character in action: U+00A7 '§'", "signs that mean nothing"),
    ("{{ true.x }}", '1: unexpected . after term "true"', "constants have no fields"),
    (
        '{{ define "a" }}1{{ end }}{{ define "a" }}2{{ end }}',
        '1: template: multiple definition of template "a"',
        "a name means one template",
    ),
]

FAILING = [
    ("{{ .n.x }}", "1:5", ".n.x", "nil pointer evaluating interface {}.x", "nil has no fields"),
    ("{{ .s.x }}", "1:5", ".s.x", "can't evaluate field x in type interface {}", "a string has none"),
    ("{{ $x := .s }}{{ $x.y }}", "1:19", "$x.y", "can't evaluate field y in type string", "of known type"),
    ("{{ upper .i }}", "1:9", ".i", "wrong type for value; expected string; got int64", "types must fit"),
    ("{{ upper .n }}", "1:9", ".n", "wrong type for value; expected string; got interface {}", "nil, too"),
    (
        "{{ upper (or .i .s) }}",
        "1:13",
        ".i",
        "wrong type for value; expected string; got int64",
        "what decided",
    ),
    (
        "{{ upper (and .s .i) }}",
        "1:17",
        ".i",
        "wrong type for value; expected string; got int64",
        "and the last",
    ),
    ("{{ upper .zz }}", "1:9", ".zz", "invalid value; expected string", "nothing fits even less"),
    ("{{ upper nil }}", "1:9", "nil", "cannot assign nil to string", "nil itself"),
    ("{{ upper 1 }}", "1:9", "1", "expected string; found 1", "constants"),
    ("{{ trunc `x` .s }}", "1:9", "`x`", "expected integer; found `x`", "the other way round"),
    ("{{ upper }}", "1:3", "upper", "wrong number of args for upper: want 1 got 0", "as many as it wants"),
    ("{{ printf }}", "1:3", "printf", "wrong number of args for printf: want at least 1 got 0", "or more"),
    ("{{ .s `x` }}", "1:3", ".s", "s is not a method but has arguments", "fields take no arguments"),
    ("{{ (1) 2 }}", "1:3", "(1) 2", "can't give argument to non-function 1", "values neither"),
    ("{{ nil }}", "1:3", "nil", "nil is not a command", "nil does nothing"),
    ("{{ $x = 1 }}", "1:8", "1", "undefined variable: $x", "only what is declared can be set"),
    ("{{ range .s }}{{ end }}", "1:9", ".s", "range can't iterate over text", "strings are no lists"),
    ("{{ template `a` . }}", "1:12", '{{template "a" .}}', 'template "a" not defined', "call what there is"),
    ("é\n é{{ upper .i }}", "2:12", ".i", "wrong type for value; expected string; got int64", "bytes count"),
    ("{{ len .i }}", "1:3", "len .i", "error calling len: len of type int64", "functions fail by name"),
    ("{{ index .l 9 }}", "1:3", "index .l 9", "error calling index: index out of range: 9", "out of range"),
    (
        "{{ index .l 1 }}",
        "1:3",
        "index .l 1",
        "error calling index: reflect: slice index out of range",
        "just so",
    ),
    (
        "{{ index .m 1 }}",
        "1:3",
        "index .m 1",
        "error calling index: value has type int; should be string",
        "keys",
    ),
    (
        "{{ eq .l .l }}",
        "1:3",
        "eq .l .l",
        "error calling eq: non-comparable type [b]: []interface {}",
        "lists",
    ),
    (
        "{{ eq 1 1.0 }}",
        "1:3",
        "eq 1 1.0",
        "error calling eq: incompatible types for comparison: int and float64",
        "numbers of two kinds",
    ),
    ("{{ lt .n 1 }}", "1:3", "lt .n 1", "error calling lt: invalid type for comparison", "nil has no order"),
    (
        "{{ call .s }}",
        "1:3",
        "call .s",
        "error calling call: non-function .s of type string",
        "nothing to call",
    ),
    ("{{ fail `a%d` }}", "1:3", "fail `a%d`", "error calling fail: a%d", "what an author says is kept"),
    ("{{ now.Nope }}", "1:3", "now", "can't evaluate field Nope in type time.Time", "methods are known"),
]


@pytest.mark.parametrize(("text", "problem"), [row[:2] for row in UNREADABLE], ids=[r[2] for r in UNREADABLE])
def test_a_template_that_cannot_be_read_names_the_line(text, problem):
    with pytest.raises(ParseError) as raised:
        compile_text(text)
    assert str(raised.value) == f"template: manifests:{problem}"


@pytest.mark.parametrize(
    ("text", "place", "node", "problem"), [row[:4] for row in FAILING], ids=[row[4] for row in FAILING]
)
def test_a_template_that_fails_names_line_column_and_node(text, place, node, problem):
    with pytest.raises(ExecError) as raised:
        compile_text(text).render(DATA)
    assert str(raised.value) == f'template: manifests:{place}: executing "manifests" at <{node}>: {problem}'


def test_an_error_in_an_included_template_shows_the_path_to_it():
    text = '{{ define "in" }}\n{{ fail "kaput" }}{{ end }}{{ include "in" . }}'
    with pytest.raises(ExecError) as raised:
        compile_text(text).render(DATA)
    assert str(raised.value) == (
        'template: manifests:2:30: executing "manifests" at <include "in" .>: error calling include: '
        'template: manifests:2:3: executing "in" at <fail "kaput">: error calling fail: kaput'
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ .zz }}", 'map has no entry for key "zz"'),
        ("{{ .m.zz.y }}", 'map has no entry for key "zz"'),
        ('{{ define "t" }}{{ .x }}{{ end }}{{ template "t" }}', 'nil data; no entry for key "x"'),
    ],
)
def test_missing_keys_are_errors_with_the_option(text, problem):
    with pytest.raises(ExecError, match=problem):
        compile_text(text).render(DATA, ("missingkey=error",))


@pytest.mark.parametrize("option", ["bogus", "missingkey=never", "missingkey", "a=b=c"])
def test_an_unknown_option_is_refused(option):
    with pytest.raises(OptionError, match=f"unrecognized option: {option}"):
        compile_text("").render({}, (option,))
