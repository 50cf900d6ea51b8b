"""A pipe in a directory of somebody else is not waited for: it is left out, or refused with its path."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from crossply.cli.main import main
from crossply.cli.up.files.file_set import files_below

SUITE = """\
apiVersion: crossply.dev/v1alpha1
kind: CompositionTest
metadata: {name: x}
spec:
  xr: pipe.yaml
  cases: [{name: a, expect: {resources: [{name: a}]}}]
"""
XR = "{apiVersion: example.org/v1, kind: App, metadata: {name: a}}\n"
COMPOSITION = """\
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: apps}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: App}
  mode: Pipeline
  pipeline: [{step: ready, functionRef: {name: function-auto-ready}}]
"""
FUNCTION = """\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-auto-ready}
spec: {package: "xpkg.crossplane.io/crossplane-contrib/function-auto-ready:v0.5.0"}
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xr.yaml").write_text(XR)
    (tmp_path / "composition.yaml").write_text(COMPOSITION)
    (tmp_path / "functions.yaml").write_text(FUNCTION)
    (tmp_path / "found").mkdir()
    return tmp_path


COMMANDS = {
    "a package file": ("crossplane.yaml", "check found", 0, "0 errors"),
    "a project file that is checked": ("upbound.yaml", "check found", 1, "is not a regular file"),
    "a project file": ("upbound.yaml", "project build -f found/upbound.yaml", 1, "is not a regular file"),
    "a file with tests": ("test.yaml", "test found", 2, "no CompositionTest found"),
    "functions": ("a.yaml", "render xr.yaml composition.yaml found", 1, "no YAML files found"),
    "observed": (
        "a.yaml",
        "render xr.yaml composition.yaml functions.yaml -o found",
        1,
        "no YAML files found",
    ),
    "schemas": (
        *("a.json", "render xr.yaml composition.yaml functions.yaml --required-schemas found", 1),
        "no JSON files found",
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_pipe_in_a_directory_is_not_waited_for(
    directory: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    pipe, words, code, message = COMMANDS[name]
    os.mkfifo(directory / "found" / pipe)
    assert main(words.split()) == code
    printed = capsys.readouterr()
    assert message in printed.out + printed.err


@pytest.mark.parametrize(
    ("annotation", "pipe"),
    [("crossply.dev/templates", "a.yaml"), ("crossply.dev/kcl", "kcl.mod"), ("crossply.dev/kcl", "main.k")],
)
def test_a_pipe_among_the_files_of_a_function_is_refused(
    directory: Path, capsys: pytest.CaptureFixture[str], annotation: str, pipe: str
) -> None:
    named = f"metadata: {{name: function-auto-ready, annotations: {{{annotation}: found}}}}\n"
    (directory / "functions.yaml").write_text(re.sub("metadata: .*\n", named, FUNCTION))
    os.mkfifo(directory / "found" / pipe)
    assert main(["render", "xr.yaml", "composition.yaml", "functions.yaml"]) == 1
    assert "not a regular file" in capsys.readouterr().err


def test_a_pipe_that_a_suite_names_is_refused(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "test.yaml").write_text(SUITE)
    os.mkfifo(directory / "pipe.yaml")
    assert main(["test", "test.yaml"]) == 2
    assert "pipe.yaml is not a regular file" in capsys.readouterr().out


def test_a_pipe_among_the_files_of_up_is_left_out(directory: Path) -> None:
    os.mkfifo(directory / "found" / "a.yaml")
    assert sorted(files_below(str(directory))) == [
        str(directory / f"{name}.yaml") for name in ("composition", "functions", "xr")
    ]
