"""Templates that would be endless, or fill the memory, fail with an error that names the place."""

from __future__ import annotations

import resource
import time

import pytest

from crossply.functions.builtin.go_templating.engine.errors import ExecError, ParseError, TemplateError
from crossply.functions.builtin.go_templating.engine.limits import MAX_OUTPUT, MAX_TEMPLATE, Budget
from crossply.functions.builtin.go_templating.engine.token_stream import MAX_NESTING
from crossply.functions.builtin.go_templating.program import compile_text

SECONDS = 1.0
GENEROUS = 20.0
"""How long the machine may take for what should take a second."""

BOMBS = [
    ("{{ range 1000000000 }}{{ end }}", "rendering takes longer", "an endless loop"),
    ("{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}", "rendering takes longer", "loops in loops"),
    ("{{ range 100000000 }}{{ $x := len `a` }}{{ end }}", "rendering takes longer", "that call functions"),
    ("{{ range until 1000000000 }}{{ end }}", "list would be longer", "a loop over a huge list"),
    ("{{ repeat 1000000000 `x` }}", "text would be longer", "a huge text"),
    ("{{ printf `%900000d` 1 | repeat 100 }}", "text would be longer", "made of a wide number"),
    (
        "{{ range 100000 }}{{ range 100000 }}xxxxxxxxxxxxxxxx{{ end }}{{ end }}",
        "text is longer|takes longer",
        "output",
    ),
    (
        "{{ $x := `xx` }}{{ range 64 }}{{ $x = print $x $x }}{{ end }}",
        "text would be longer",
        "doubling a text",
    ),
    ("{{ $x := list 1 }}{{ range 64 }}{{ $x = concat $x $x }}{{ end }}", "list would be longer", "or a list"),
    (
        "{{ $x := list 1 }}{{ range 64 }}{{ $x = list $x $x }}{{ end }}{{ $x }}",
        "list would be longer",
        "shared items",
    ),
    (
        "{{ $x := list 1 }}{{ range 64 }}{{ $x = list $x $x }}{{ end }}{{ toYaml $x }}",
        "longer",
        "written as YAML",
    ),
    (
        "{{ $l := list }}{{ range 100 }}{{ $l = append $l (repeat 9000000 `x`) }}{{ end }}",
        "256 MiB",
        "many texts",
    ),
    ("{{ $d := dict }}{{ $_ := set $d `d` $d }}{{ $d }}", "nests too deep", "a map in itself"),
    ("{{ $d := dict }}{{ $_ := set $d `d` $d }}{{ toYaml $d }}", "nests too deep", "as YAML"),
    (
        "{{ $d := list }}{{ range 20000 }}{{ $d = list $d }}{{ end }}{{ $d }}",
        "nests too deep",
        "lists in lists",
    ),
    (
        "{{ $l := list }}{{ range 100 }}"
        "{{ $l = append $l (fromJson (print `[` (repeat 90000 `[],{},`) `1]`)) }}{{ end }}",
        "256 MiB|takes longer",
        "many small values of JSON",
    ),
    ("{{ fromJson (print `[` (repeat 4000000 `{},`) `1]`) | len }}", "256 MiB", "or many at once"),
    (
        "{{ $l := list }}{{ range 100 }}{{ $l = append $l (fromYaml (repeat 90000 `- a\n`)) }}{{ end }}",
        "256 MiB|takes longer",
        "or of YAML",
    ),
    (
        "{{ $x := list }}{{ range 300 }}{{ $x = append $x dict }}{{ end }}{{ $l := list }}"
        "{{ range 90000 }}{{ $l = list $l (deepCopy $x) }}{{ end }}",
        "256 MiB|takes longer",
        "or copies of many",
    ),
    ("{{ fromYaml (repeat 100000 `[`) }}", "max depth", "brackets without end"),
    (
        '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}',
        "nested reference name: a",
        "include",
    ),
    (
        '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
        "maximum template depth",
        "template",
    ),
    (
        '{{ define "a" }}{{ template "b" }}{{ end }}{{ define "b" }}{{ include "a" 1 }}{{ end }}'
        '{{ template "a" }}',
        "maximum template depth",
        "two that call each other",
    ),
    (
        '{{ define "a" }}{{ if lt $ 500 }}{{ range 2 }}{{ include "a" (add1 $) }}{{ end }}{{ end }}{{ end }}'
        '{{ include "a" 1 }}',
        "rendering takes longer",
        "a tree of includes",
    ),
]


@pytest.mark.parametrize(("text", "problem"), [row[:2] for row in BOMBS], ids=[row[2] for row in BOMBS])
def test_a_bomb_fails_soon_with_its_place(text, problem):
    # What is not stopped by time must not be stopped by it on a busy machine either.
    seconds = SECONDS if "takes longer" in problem else GENEROUS
    start = time.monotonic()
    with pytest.raises(ExecError, match=problem) as raised:
        compile_text(text).render({}, (), Budget(seconds))
    assert time.monotonic() - start < 2 * GENEROUS
    assert str(raised.value).startswith("template: manifests:1:")
    assert "executing" in str(raised.value)


def test_bombs_take_little_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for text, _, _ in BOMBS:
        with pytest.raises(TemplateError):
            compile_text(text).render({}, (), Budget(0.3))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 * 1024


def test_recursion_is_as_deep_as_in_the_published_function():
    text = '{{ define "a" }}{{ if lt . %d }}{{ include "a" (add1 .) }}{{ else }}{{ . }}{{ end }}{{ end }}'
    assert compile_text(text % 1001 + '{{ include "a" 1 }}').render({}) == "1001"
    with pytest.raises(ExecError, match="unable to execute template"):
        compile_text(text % 1002 + '{{ include "a" 1 }}').render({})


def test_recursion_depth_does_not_depend_on_the_caller():
    text = '{{ define "a" }}{{ if lt . 900 }}{{ include "a" (add1 .) }}{{ end }}x{{ end }}{{ include "a" 1 }}'

    def deep(levels):
        return deep(levels - 1) if levels else compile_text(text).render({})

    assert deep(200) == "x" * 900


def test_a_caller_that_is_deep_itself_gets_an_error_and_no_crash():
    program = compile_text("{{ " + "(" * 70 + "1" + ")" * 70 + " }}")

    def deep():
        try:
            return program.render({})
        except TemplateError as problem:
            return str(problem)

    def down(levels):
        return down(levels - 1) if levels else deep()

    answers = {down(levels) for levels in range(300, 940, 10)}
    assert answers <= {"1", "template: manifests: templates nest too deep"}
    assert "1" in answers


def test_nesting_is_bounded_when_a_template_is_read():
    deep = "{{ " + "(" * MAX_NESTING + "1" + ")" * MAX_NESTING + " }}"
    with pytest.raises(ParseError, match="max expression depth exceeded"):
        compile_text(deep)
    with pytest.raises(ParseError, match="max expression depth exceeded"):
        compile_text("{{ if 1 }}" * (MAX_NESTING + 1) + "{{ end }}" * (MAX_NESTING + 1))


def test_the_number_of_tokens_is_bounded_when_a_template_is_read():
    assert compile_text("{{ 1 }}" * 1_000).render({}) == "1" * 1_000
    with pytest.raises(ParseError, match="more than 200000 tokens"):
        compile_text("{{1}}" * 100_000)


def test_long_chains_of_else_if_are_no_nesting():
    assert compile_text("{{ if 0 }}" + "{{ else if 0 }}" * 1000 + "{{ else }}x{{ end }}").render({}) == "x"


def test_texts_are_bounded():
    largest = "{{ range 16 }}" + "x" * (MAX_OUTPUT // 16) + "{{ end }}"
    assert len(compile_text(largest).render({})) == MAX_OUTPUT
    with pytest.raises(ExecError, match="rendered text is longer"):
        compile_text(largest + "x").render({})
    with pytest.raises(ParseError, match="text is longer"):
        compile_text("x" * (MAX_TEMPLATE + 1))


def test_many_variables_take_no_time():
    start = time.monotonic()
    declared = "".join(f"{{{{ $v{number} := 1 }}}}" for number in range(5000))
    assert compile_text(declared + "{{ $v4999 }}" * 5000).render({}) == "1" * 5000
    assert time.monotonic() - start < GENEROUS


SPIES = [
    "{{ .__class__ }}",
    "{{ .data.__class__.__mro__ }}",
    "{{ (now).value }}",
    "{{ (now).__init__ }}",
    "{{ (dict).items }}",
    "{{ (list).append }}",
    "{{ `x`.format }}",
    "{{ (semver `1.2.3`).value }}",
    "{{ printf `{0.__class__}` . }}",
    "{{ printf `%s` .data }}",
]


@pytest.mark.parametrize("text", SPIES)
def test_no_python_object_can_be_reached(text):
    try:
        shown = compile_text(text).render({"data": {"a": "b"}})
    except TemplateError as refused:
        shown = str(refused).rpartition(": ")[2]
    assert "object at" not in shown
    assert "<class" not in shown


@pytest.mark.parametrize(
    "text", ["{{ env `HOME` }}", "{{ expandenv `$HOME` }}", "{{ readFile `/etc/passwd` }}"]
)
def test_nothing_of_the_machine_can_be_read(text):
    with pytest.raises(ParseError, match="not defined"):
        compile_text(text)


def test_no_name_is_resolved_on_the_network():
    try:
        answer = compile_text("{{ getHostByName `localhost` }}").render({})
    except ExecError:
        answer = ""
    assert answer == ""
