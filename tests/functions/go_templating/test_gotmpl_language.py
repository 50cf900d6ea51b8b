"""What templates render to: the language itself, without sprig. Every row was checked against Go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.functions.builtin.go_templating.engine.errors import ParseError
from crossply.functions.builtin.go_templating.engine.go_types import Int64
from crossply.functions.builtin.go_templating.program import compile_text

DATA = {
    "name": "cool",
    "empty": "",
    "nothing": None,
    "seven": Int64(7),
    "half": 2.5,
    "yes": True,
    "letters": ["b", "a", "c"],
    "mixed": [Int64(1), "two", 3.5, True, None],
    "map": {"b": Int64(2), "a": Int64(1), "c": {"d": "deep"}},
    "things": [{"name": "x"}, {"name": "y", "on": True}],
    "none": [],
}

ROWS = [
    ("plain text", "plain text", "text is kept"),
    ("{{ .name }}", "cool", "a field"),
    ("{{ .map.c.d }}", "deep", "fields of fields"),
    ("{{ .missing }}|{{ .missing.deeper }}", "<no value>|<no value>", "nothing, also deeper"),
    ("{{ .nothing }}", "<no value>", "nil prints as nothing"),
    ("{{ .mixed }}", "[1 two 3.5 true <nil>]", "lists print in brackets"),
    ("{{ .map }}", "map[a:1 b:2 c:map[d:deep]]", "maps print in the order of their keys"),
    ("{{ 1000000.0 }} {{ 1e20 }} {{ 0.5 }}", "1e+06 1e+20 0.5", "floats print as Go prints them"),
    ("{{ 0x1F }} {{ 0b11 }} {{ 0o17 }} {{ 017 }} {{ 1_000 }} {{ 'a' }}", "31 3 15 15 1000 97", "literals"),
    ("{{ 1i }} {{ 1-2i }}", "(0+1i) (1-2i)", "even complex numbers"),
    ('{{ "tab\\t\\u00e9\\x41" }}{{ `raw\\t` }}', "tab\téA" + "raw\\t", "escapes, and none in raw strings"),
    ('{{ "{{" }}', "{{", "a delimiter as a string"),
    ("x {{- 3 -}} y", "x3y", "trimming on both sides"),
    ("x  {{/* gone */}}  {{- /* too */ -}}  y", "x  y", "comments vanish, and trim"),
    ("{{ if .empty }}1{{ else if .none }}2{{ else if .seven }}3{{ else }}4{{ end }}", "3", "else if"),
    ("{{ with .map.c }}{{ .d }}{{ end }}{{ with .empty }}x{{ else }}-{{ end }}", "deep-", "with"),
    ("{{ with .empty }}a{{ else with .name }}{{ . }}{{ end }}", "cool", "else with"),
    ("{{ range .letters }}[{{ . }}]{{ end }}", "[b][a][c]", "range over a list"),
    ("{{ range $i, $l := .letters }}{{ $i }}{{ $l }}{{ end }}", "0b1a2c", "with index"),
    ("{{ range $k, $v := .map }}{{ $k }}={{ $v }};{{ end }}", "a=1;b=2;c=map[d:deep];", "maps by key"),
    ("{{ range .none }}x{{ else }}none{{ end }}{{ range .missing }}x{{ end }}", "none", "nothing there"),
    ("{{ range 3 }}{{ . }}{{ end }}{{ range $i := .seven }}{{ $i }}{{ end }}", "0120123456", "over numbers"),
    ("{{ range .letters }}{{ if eq . `a` }}{{ break }}{{ end }}{{ . }}{{ end }}", "b", "break"),
    ("{{ range .letters }}{{ if eq . `a` }}{{ continue }}{{ end }}{{ . }}{{ end }}", "bc", "continue"),
    ("{{ range .things }}{{ .name }}{{ $.name }}{{ .on }};{{ end }}", "xcool<no value>;ycooltrue;", "$"),
    ("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}", "21", "a declaration hides"),
    ("{{ $x := 1 }}{{ range .letters }}{{ $x = . }}{{ end }}{{ $x }}", "c", "an assignment stays"),
    ("{{ $m := .map }}{{ $m.c.d }}", "deep", "fields of variables"),
    ("{{ (index .things 1).name }}", "y", "fields of expressions"),
    ('{{ define "t" }}<{{ . }}{{ $ }}>{{ end }}{{ template "t" .name }}', "<coolcool>", "define"),
    ('{{ template "t" }}{{ define "t" }}{{ . }}{{ .x }}{{ end }}', "<no value><no value>", "without data"),
    ('{{ block "b" .name }}[{{ . }}]{{ end }}', "[cool]", "a block renders where it is defined"),
    ('{{ define "i" }}{{ .name }}{{ end }}{{ include "i" . | printf "%s!" }}', "cool!", "include is a value"),
    ("{{ and 1 0 2 }} {{ or 0 `` .name }} {{ not .empty }}", "0 cool true", "logic yields values"),
    ("{{ or 1 (index .letters 99) }}", "1", "what is not needed is not evaluated"),
    ("{{ 1 | and 2 }} {{ .name | printf `%s-%s` `a` }}", "1 a-cool", "a pipe gives the last argument"),
    ("{{ eq .seven 7 }} {{ eq .name `a` `cool` }} {{ ne 1 2 }}", "true true true", "equality"),
    ("{{ eq .nothing nil }} {{ eq .missing `x` }}", "true false", "nil can be compared"),
    ("{{ lt 1 2 }} {{ le `b` `a` }} {{ gt 2.5 1.5 }} {{ ge .seven 8 }}", "true false true false", "order"),
    ("{{ len .name }} {{ len `日本` }} {{ len .map }}", "4 6 3", "strings are measured in bytes"),
    ("{{ index .letters 1 }} {{ index .map `c` `d` }} {{ index .map `zz` }}", "a deep <no value>", "index"),
    ("{{ print 1 2 `a` 3 nil }}|{{ println 1 `a` }}", "1 2a3 <nil>|1 a\n", "where spaces go"),
    ("{{ printf `%05d|%-6s|%6.2f|%q|%x|%T` .seven .name .half .name .name .seven }}",
     '00007|cool  |  2.50|"cool"|636f6f6c|int64', "printf"),
    ("{{ printf `%d %s` `x` 5 }}", "%!d(string=x) %!s(int=5)", "verbs that do not fit"),
    ("{{ printf `%s` .mixed }}", "[%!s(int64=1) two %!s(float64=3.5) %!s(bool=true) <nil>]", "item by item"),
    ("{{ html `<a b=\"c\">&'` }}", "&lt;a b=&#34;c&#34;&gt;&amp;&#39;", "html"),
    ("{{ js `<'a'>=` }}", "\\u003C\\'a\\'\\u003E\\u003D", "js"),
    ("{{ urlquery `a b&c/é~` }}", "a+b%26c%2F%C3%A9~", "urlquery"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "expected"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_a_template_renders_as_in_go(template, expected):
    assert compile_text(template).render(DATA) == expected


def test_delimiters_can_be_others():
    assert compile_text("{{ .name }} [[ .name ]]", "[[", "]]").render(DATA) == "{{ .name }} cool"


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("missingkey=default", "<no value>"),
        ("missingkey=invalid", "<no value>"),
        ("missingkey=zero", "<no value>"),
    ],
)
def test_a_missing_key_prints_as_no_value_unless_it_is_an_error(option, expected):
    assert compile_text("{{ .missing }}").render(DATA, (option,)) == expected


def test_a_rendering_does_not_change_the_compiled_template():
    program = compile_text("{{ range .letters }}{{ . }}{{ end }}")
    assert program.render({"letters": ["x"]}) + program.render({"letters": ["y"]}) == "xy"


@given(st.text(st.characters(exclude_characters="{", exclude_categories=["Cs"])))
def test_text_without_actions_renders_to_itself(text):
    assert compile_text(text).render({}) == text


_WORDS = r"""{{ }} {{- -}} {{/* */}} if else end range with define block template break $x := = | ( ) . .a 1
1.5 'c' nil true len print "s" `r` , \ " ` é"""
PIECES = st.sampled_from([*_WORDS.split(), "\n"])


@given(st.lists(PIECES, max_size=25).map(" ".join))
def test_any_text_is_a_template_or_a_parse_error(text):
    try:
        compile_text(text)
    except ParseError as raised:
        problem = str(raised)
    else:
        problem = "template: manifests:"
    assert problem.startswith("template: manifests:")
