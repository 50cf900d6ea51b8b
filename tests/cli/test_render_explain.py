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


@pytest.mark.parametrize("example", ["10-starlark"])
def test_a_function_that_cannot_be_traced_is_named_by_its_step(capsys, example):
    assert explained(example) == 0
    output = capsys.readouterr().out
    assert "step partitions: function-starlark" in output
    assert "anything that the function was sent" in output
