"""Every example matches its README: the command in it prints `expected.yaml`, byte for byte.

To renew an expected file after a deliberate change, run the README's command in the example's directory and
read the difference before you commit it.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from crossply.functions import builtin
from crossply.schema.defaults import apply_defaults
from crossply.schema.definition_crds import composite_crd
from crossply.schema.prune import unknown_fields
from crossply.schema.validation import validate
from crossply.values import Object
from crossply.values.yaml import load, read_stream

EXAMPLES = sorted(path.parent for path in (Path(__file__).parents[2] / "examples").glob("*/README.md"))
DEFINED = [
    (example, example / name)
    for example in EXAMPLES
    for name in ("xrd.yaml", "definition.yaml")
    if (example / name).exists()
]


def command_of(example: Path) -> list[str]:
    """The command in the README, with the script that belongs to this interpreter."""
    blocks = (example / "README.md").read_text().split("```console\n")[1:]
    commands = [
        line[2:]
        for block in blocks
        for line in block.split("```")[0].splitlines()
        if line.startswith("$ crossply ")
    ]
    assert len(commands) == 1, "one example, one command of ours"
    program, *arguments = shlex.split(commands[0])
    return [str(Path(sys.executable).with_name(program)), *arguments]


def warnings_of(example: Path) -> str:
    """The lines of the README that the command writes to stderr."""
    lines = (example / "README.md").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith("crossply: warning: "))


def objects_in(path: Path) -> list[Object]:
    return [document.value for document in read_stream(path.read_bytes())]


def test_the_examples_are_numbered_without_gaps() -> None:
    assert [example.name[:3] for example in EXAMPLES] == [f"{number:02d}-" for number in range(len(EXAMPLES))]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_command_in_the_readme_prints_the_expected_output(example: Path) -> None:
    done = subprocess.run(
        command_of(example), cwd=example, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, warnings_of(example))
    assert done.stdout == (example / "expected.yaml").read_text()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_file_of_an_example_is_used(example: Path) -> None:
    mentioned_text = (example / "README.md").read_text() + " README.md expected.yaml definition.yaml"
    assert [path.name for path in example.iterdir() if path.name not in mentioned_text] == []


@pytest.mark.parametrize(("example", "definition"), DEFINED, ids=lambda path: path.name)
def test_the_composite_resource_fits_its_definition(example: Path, definition: Path) -> None:
    (xr,) = objects_in(example / "xr.yaml")
    version = xr["apiVersion"].partition("/")[2]
    spec = composite_crd(load(definition.read_bytes()))["spec"]
    assert spec["names"]["kind"] == xr["kind"]
    schema = next(version_spec for version_spec in spec["versions"] if version_spec["name"] == version)[
        "schema"
    ]["openAPIV3Schema"]
    assert unknown_fields(xr, schema) == []
    assert validate(apply_defaults(xr, schema), schema) == []


def test_functions_are_named_as_they_are_published_and_chosen_by_nothing_else() -> None:
    functions = [
        function
        for example in EXAMPLES
        for path in example.glob("functions.yaml")
        for function in objects_in(path)
    ]
    assert functions
    for function in functions:
        assert function["metadata"] == {"name": function["metadata"]["name"]}
        name = builtin.find(function["metadata"]["name"])
        assert function["spec"]["package"].startswith(f"{builtin.about(name).package}:v")


def test_the_suites_of_the_examples_pass_and_reach_everything() -> None:
    program = str(Path(sys.executable).with_name("crossply"))
    done = subprocess.run(
        [program, "test", str(EXAMPLES[0].parent), "--coverage=100"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
