"""`render --explain`: where each rendered field comes from."""

from __future__ import annotations

import json

import pytest

from crossply.cli.main import main
from tests.support.paths import ROOT

FILES = ("xr.yaml", "composition.yaml", "functions.yaml")


def explained(example: str, *flags: str) -> int:
    return main(["render", *(str(ROOT / "examples" / example / file) for file in FILES), "--explain", *flags])


def test_a_patched_field_names_the_step_the_patch_and_the_source(capsys):
    assert explained("02-patch-and-transform") == 0
    lines = capsys.readouterr().out.splitlines()
    [region] = [
        line for line in lines if line.startswith("spec.forProvider.region") and "Bucket" not in line
    ][:1]
    assert "step compose: patch 0 of patch set region (FromCompositeFieldPath, map)" in region
    assert region.endswith("spec.region")


def test_a_templated_field_names_its_line(capsys):
    assert explained("08-go-templating", "--output", "json") == 0
    items = json.loads(capsys.readouterr().out)["items"]
    [subnet] = [item for item in items if item["resource"] == "subnet-back"]
    [cidr] = [field for field in subnet["fields"] if field["path"] == "spec.cidr"]
    assert cidr["source"]["how"] == "template, line 18"
    assert {"object": "composite", "path": "spec.cidr", "use": "value"} in cidr["source"]["sources"]


WAITING = """
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: waiting}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: App}
  mode: Pipeline
  pipeline:
  - step: copy
    functionRef: {name: function-go-templating}
    input:
      apiVersion: gotemplating.fn.crossplane.io/v1beta1
      kind: GoTemplate
      source: Inline
      inline:
        template: |
          apiVersion: meta.gotemplating.fn.crossplane.io/v1alpha1
          kind: ExtraResources
          requirements:
            pw: {apiVersion: v1, kind: Secret, matchName: pw}
"""


@pytest.mark.parametrize("flags", [[], ["--explain"]])
def test_the_pending_requirements_of_a_step_are_printed(capsys, tmp_path, flags):
    (tmp_path / "xr.yaml").write_text("apiVersion: example.org/v1\nkind: App\nmetadata: {name: web}\n")
    (tmp_path / "composition.yaml").write_text(WAITING)
    functions = ROOT / "examples" / "08-go-templating" / "functions.yaml"
    files = [str(tmp_path / "xr.yaml"), str(tmp_path / "composition.yaml"), str(functions)]
    assert main(["render", *files, *flags]) == 0
    sentence = "step copy requires Secret pw, which is not provided: --required-resources=FILE"
    assert sentence in capsys.readouterr().err
    (tmp_path / "pw.yaml").write_text("apiVersion: v1\nkind: Secret\nmetadata: {name: pw}\n")
    assert main(["render", *files, *flags, f"--required-resources={tmp_path}/pw.yaml"]) == 0
    assert capsys.readouterr().err == ""


def test_a_pending_requirement_is_printed_before_the_failure_that_it_may_explain(capsys, tmp_path):
    (tmp_path / "xr.yaml").write_text("apiVersion: example.org/v1\nkind: App\nmetadata: {name: web}\n")
    failing = "  - step: check\n    functionRef: {name: function-go-templating}\n    input:\n"
    template = "{apiVersion: gotemplating.fn.crossplane.io/v1beta1, kind: GoTemplate, source: Inline,"
    failing += f"      {template} inline: {{template: '{{{{ fail \"no password\" }}}}'}}}}\n"
    (tmp_path / "composition.yaml").write_text(WAITING + failing)
    functions = ROOT / "examples" / "08-go-templating" / "functions.yaml"
    assert main(["render", f"{tmp_path}/xr.yaml", f"{tmp_path}/composition.yaml", str(functions)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert "step copy requires Secret pw, which is not provided" in lines[0]
    assert "no password" in lines[-1]


@pytest.mark.parametrize("example", ["10-starlark"])
def test_a_function_that_cannot_be_traced_is_named_by_its_step(capsys, example):
    assert explained(example) == 0
    output = capsys.readouterr().out
    assert "step partitions: function-starlark" in output
    assert "anything that the function was sent" in output
