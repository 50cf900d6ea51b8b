"""`crossply new test`: create a test that expects what a Composition renders now."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.new.new_files import FORCE, write_new
from crossply.rendering.inputs import load_composition
from crossply.scaffold.suite_from_rendering import suite_text
from crossply.testing.suite import Suite
from crossply.testing.suite_run import render_twice
from crossply.values.yaml import Document


def run(invocation: Invocation) -> int:
    composition = invocation["composition"]
    path = invocation["output"] or f"{os.path.splitext(composition)[0]}_test.yaml"
    folder = os.path.dirname(path) or os.curdir
    sources = {
        key: os.path.relpath(source, folder)
        for key in ("composition", "functions", "xrd", "xr")
        if (source := invocation[key])
    }
    suite = Suite(
        name=load_composition(composition).composition.name,
        document=Document({}, path, 1),
        cases=(),
        composition=sources["composition"],
        functions=(sources["functions"],) if "functions" in sources else None,
        xrd=sources.get("xrd"),
        xr=sources["xr"],
    )
    text = suite_text(suite.name, sources, render_twice(suite))
    steps = [f"crossply test {os.path.relpath(path)}"]
    return write_new(invocation, folder, {os.path.basename(path): text}, steps)


COMMAND = Command(
    "test",
    "Create a test that expects what a Composition renders now.",
    run,
    arguments=(
        Argument("composition", "A YAML file with the Composition.", "existing-file"),
        Argument("xr", "A YAML file with a composite resource for it.", "existing-file"),
    ),
    flags=(
        Flag(
            "functions",
            "A YAML file with the functions. Defaults to functions.yaml beside the test. "
            "Functions of the project and built-in functions need not be listed.",
            kind="existing-file",
            placeholder="FILE",
        ),
        Flag("xrd", "A YAML file with the XRD.", kind="existing-file", placeholder="FILE"),
        Flag(
            "output",
            "The file to write. Defaults to the name of the Composition's file with _test.",
            short="o",
            kind="path",
            placeholder="FILE",
        ),
        FORCE,
    ),
    description=(
        "Renders the composite resource and writes the result as the expectation. The test "
        "passes until\n"
        "something changes. Delete expectations that do not matter, and add missing ones."
    ),
    examples=("crossply new test composition.yaml xr.yaml --xrd definition.yaml",),
)
