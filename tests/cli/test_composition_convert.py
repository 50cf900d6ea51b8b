"""`composition convert` rewrites Compositions of older forms, and keeps their comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli.command_files import Bench

ENVIRONMENT = """\
# Owned by the platform team.
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: c}
spec:
  compositeTypeRef: {apiVersion: acme.test/v1, kind: XCache}
  mode: Pipeline
  environment:
    # Where things run.
    defaultData: {zone: a}
    policy:
      resolve: Always # every time
  pipeline:
  # The only step.
  - step: one # first
    functionRef: {name: f}
"""
NATIVE = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: c}
spec:
  compositeTypeRef: {apiVersion: acme.test/v1, kind: XCache}
  resources:
  - base: {apiVersion: v1, kind: ConfigMap}
    patches:
    # copied on purpose
    - fromFieldPath: spec.size # in GiB
"""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path, monkeypatch, capsys)


def test_the_environment_moves_with_its_comments(bench: Bench) -> None:
    result = bench.run("composition convert composition-environment", ENVIRONMENT)
    assert (
        result.out
        == """\
---
# Owned by the platform team.
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: c
spec:
  compositeTypeRef:
    apiVersion: acme.test/v1
    kind: XCache
  mode: Pipeline
  pipeline:
  - functionRef:
      name: function-environment-configs
    input:
      apiVersion: environmentconfigs.fn.crossplane.io/v1beta1
      kind: Input
      # every time
      spec:
        # Where things run.
        defaultData:
          zone: a
    step: environment-configs
  # The only step.
  - functionRef:
      name: f
    step: one # first
"""
    )


@pytest.mark.parametrize("command", ["composition convert", "beta convert"])
def test_templates_move_with_their_comments(bench: Bench, command: str) -> None:
    result = bench.run(f"{command} pipeline-composition --function-patch-and-transform-ref=pt", NATIVE)
    (step,) = result.value["spec"]["pipeline"]
    assert step["functionRef"] == {"name": "pt"}
    assert "        # copied on purpose\n        - fromFieldPath: spec.size # in GiB\n" in result.out


def test_a_pipeline_is_left_alone(bench: Bench) -> None:
    converted = bench.run("composition convert pipeline-composition", NATIVE).out
    second = bench.run("composition convert pipeline-composition", converted)
    assert (second.code, second.out, second.err) == (0, "", "No changes needed.\n")


def test_the_result_goes_to_a_file(bench: Bench) -> None:
    bench.write("old.yaml", ENVIRONMENT)
    bench.write("new.yaml", "longer than what will be written\n" * 99)
    assert bench.run("composition convert composition-environment old.yaml -o new.yaml").out == ""
    assert bench.read("new.yaml")["kind"] == "Composition"


def test_an_unconvertible_composition_is_reported(bench: Bench) -> None:
    command = "composition convert composition-environment"
    assert bench.run(command, "{a: 1}").last_line == (
        "Unmarshalling Error: error unmarshaling JSON: while decoding JSON: "
        "Object 'Kind' is missing in '{\"a\":1}'"
    )
    assert bench.run(command, "a: [").last_line.startswith(
        "Unmarshalling Error: error converting YAML to JSON"
    )
    assert bench.run(command, NATIVE).last_line == (
        "Error generating new Composition: Composition is using Resources mode, run pipeline-composition "
        "command instead"
    )
    unwritable = bench.run(f"{command} -o no/new.yaml", ENVIRONMENT)
    path = bench.folder / "no" / "new.yaml"
    assert unwritable.last_line == f"Unable to open output file: open {path}: no such file or directory"
