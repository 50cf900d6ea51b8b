"""`crossply new composition`: create a first Composition for an XRD, with a test."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.new.new_files import FORCE, write_new
from crossply.rendering.inputs import load_definition
from crossply.scaffold.composition import composition_text, functions_text
from crossply.scaffold.example_resource import example_of
from crossply.scaffold.suite_from_rendering import suite_text
from crossply.schema.definition_crds import composite_crd
from crossply.testing.suite import Source, Suite
from crossply.testing.suite_run import render_twice
from crossply.values.yaml import Document, load


def run(invocation: Invocation) -> int:
    """Write a Composition, its functions and its test beside the definition."""
    path = invocation["definition"]
    folder = invocation["directory"] or os.path.dirname(path)
    definition = load_definition(path)
    crd = composite_crd(definition)
    xr = example_of(crd)
    composition = composition_text(crd, xr)
    suite = Suite(
        name=crd["spec"]["names"]["plural"],
        document=Document({}, os.path.join(folder, "composition_test.yaml"), 1),
        cases=(),
        composition=load(composition),
        functions=(),
        xrd=definition,
        xr=xr,
    )
    beside = os.path.relpath(path, folder or os.curdir)
    sources: dict[str, Source] = {"composition": "composition.yaml", "xrd": beside, "xr": xr}
    files = {
        "composition.yaml": composition,
        "functions.yaml": functions_text(),
        "composition_test.yaml": suite_text(suite.name, sources, render_twice(suite)),
    }
    shown = os.path.relpath(os.path.join(folder, "composition_test.yaml"))
    return write_new(invocation, folder, files, [f"crossply test {shown}"])


COMMAND = Command(
    "composition",
    "Create a first Composition for an XRD, with a test.",
    run,
    arguments=(Argument("definition", "A YAML file with the XRD.", "existing-file"),),
    flags=(
        Flag(
            "directory",
            "The directory to write to. Defaults to the directory of the XRD.",
            short="d",
            kind="path",
            placeholder="DIR",
        ),
        FORCE,
    ),
    description=(
        "The Composition composes a ConfigMap from the values of the composite resource, and its "
        "test passes.\n"
        "Replace the ConfigMap with the resources that you want to compose."
    ),
    examples=("crossply new composition apis/apps/definition.yaml",),
)
