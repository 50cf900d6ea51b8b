"""`explain` of templates: the line, and the data that was printed or decided."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.builtin.go_templating.function import run
from crossply.provenance.call_recorder import StepCall
from crossply.provenance.model import FieldSource
from crossply.provenance.pipeline import explain_pipeline

XR: dict[str, Any] = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web"},
    "spec": {
        "a": "A",
        "b": "B",
        "on": True,
        "off": False,
        "items": [{"n": "x"}, {"n": "y"}],
        "tags": {"k": "v"},
    },
}
HEAD = """apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    {{ setResourceNameAnnotation "cm" }}
data:
"""


def explained(body: str, *, head: str = HEAD, **settings: Any) -> dict[str, FieldSource]:
    inline = settings or {"template": "{{- $xr := .observed.composite.resource }}\n" + head + body}
    step_input = {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "Inline",
        "inline": inline,
    }
    request = Request(State(Resource(XR)), State(), input=step_input)
    response = run(request)
    assert not response.results, response.results
    return dict(explain_pipeline([StepCall("files", "function-go-templating", request, response)])["cm"])


def sources(source: FieldSource) -> str:
    return ", ".join(f"{field.use} {field.path}" for field in source.sources)


@pytest.mark.parametrize(
    ("body", "field", "expected"),
    [
        ("  f: {{ $xr.spec.a }}\n", "data.f", "value spec.a"),
        ("  f: fixed\n", "data.f", ""),
        ("  f: {{ $xr.spec.none | default $xr.spec.a }}\n", "data.f", "value spec.a, value spec.none"),
        ("  {{- if $xr.spec.on }}\n  f: 1\n  {{- end }}\n  g: 1\n", "data.f", "condition spec.on"),
        ("  {{- if $xr.spec.on }}\n  f: 1\n  {{- end }}\n  g: 1\n", "data.g", ""),
        ("  f: 1\n  {{- if $xr.spec.off }}\n  g: 1\n  {{- end }}\n", "data.f", ""),
        ("  f: 1\n  {{- if $xr.spec.off }}\n  f: 2\n  {{- end }}\n", "data.f", "condition spec.off"),
        ("  f:\n  {{- if $xr.spec.off }}\n    g: 1\n  {{- end }}\n", "data.f", "condition spec.off"),
        ("  f: |\n    1\n  {{- if $xr.spec.off }}\n    2\n  {{- end }}\n", "data.f", "condition spec.off"),
        ('  f: "x{{ if $xr.spec.off }}y{{ end }}"\n', "data.f", "condition spec.off"),
        (
            "  {{- range $xr.spec.items }}\n  f{{ .n }}: {{ .n }}\n  {{- end }}\n",
            "data.fx",
            "value spec.items[0].n, keys spec.items",
        ),
        (
            "  f:\n  {{- with $xr.spec.none }}\n  - {{ . }}\n  {{- end }}\n  - last\n",
            "data.f[0]",
            "condition spec.none",
        ),
        ("  f: {{ toJson $xr.spec.tags }}\n", "data.f.k", "value spec.tags"),
        ('  f: {{ (dict "a" $xr.spec.a "b" $xr.spec.b).b }}\n', "data.f", "value spec.b"),
        (
            "  {{- $v := 1 }}{{ if $xr.spec.off }}{{ $v = 2 }}{{ end }}\n  f: {{ $v }}\n",
            "data.f",
            "value spec.off",
        ),
        ('{{ define "h" }}{{ .spec.a }}{{ end }}  f: {{ include "h" $xr }}\n', "data.f", "value spec.a"),
        ('{{ define "h" }}{{ .spec.a }}{{ end }}  f: {{ template "h" $xr }}\n', "data.f", "value spec.a"),
        ("  f: {{ and $xr.spec.on $xr.spec.b }}\n", "data.f", "value spec.b, value spec.on"),
        ("  f: {{ len $xr.spec.items }}\n", "data.f", "keys spec.items"),
    ],
)
def test_a_field_names_the_data_that_it_depends_on(body, field, expected):
    assert sources(explained(body)[field]) == expected


def test_a_field_names_the_line_of_its_value():
    fields = explained("  f: fixed\n  g: {{ $xr.spec.a }}\n")
    assert (fields["data.f"].how, fields["data.g"].how) == ("template, line 8", "template, line 9")


def test_a_resource_whose_name_is_printed_depends_on_it_as_a_whole():
    head = HEAD.replace('"cm"', '(printf "c%s" (lower $xr.spec.none | default "m"))')
    fields = explained("  f: fixed\n", head=head.replace("lower $xr.spec.none", "$xr.spec.none"))
    assert sources(fields["data.f"]) == "condition spec.none"


def test_one_of_several_templates_is_named():
    second = HEAD + "  f: fixed\n"
    fields = explained("", templates=["{{/* nothing */}}", second])
    assert fields["data.f"].how == "template templates[1], line 7"


def test_a_document_around_which_nothing_is_decided_does_not_depend_on_its_neighbours():
    other = "---\n" + HEAD.replace('"cm"', '"other"') + "  x: 1\n"
    fields = explained(f"  f: fixed\n{{{{ if $xr.spec.off }}}}\n{other}{{{{ end }}}}\n")
    assert sources(fields["data.f"]) == ""


def test_json_output_names_everything_that_the_text_depends_on():
    manifest = (
        '{"apiVersion": "v1", "kind": "ConfigMap", "data": {"f": {{ $xr.spec.a | quote }}}, "metadata": '
        '{"annotations": {"gotemplating.fn.crossplane.io/composition-resource-name": "cm"}}}'
    )
    assert sources(explained(manifest, head="")["data.f"]) == "value spec.a"


def test_keys_that_field_paths_cannot_spell_do_no_harm():
    fields = explained('  "a[b": {{ index $xr.spec.tags "k" }}\n  "x]": 1\n')
    assert len([path for path in fields if path.startswith("data")]) == 2
