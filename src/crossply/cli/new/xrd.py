"""`crossply new xrd`: create an XRD from an example of a composite resource."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.new.new_files import FORCE, write_new
from crossply.convert.new_definition import definition_of_example
from crossply.rendering.inputs import load_composite
from crossply.values.yaml import dump


def run(invocation: Invocation) -> int:
    """Guess a definition, and write it."""
    example = invocation["example"]
    definition = definition_of_example(load_composite(example), invocation["plural"] or "")
    output = invocation["output"]
    path, shown = os.path.relpath(output), os.path.relpath(example)
    steps = [f"crossply validate {path} {shown}", f"crossply new composition {path}"]
    return write_new(invocation, os.path.dirname(output), {os.path.basename(output): dump(definition)}, steps)


COMMAND = Command(
    "xrd",
    "Create an XRD from an example of a composite resource.",
    run,
    arguments=(
        Argument("example", "A YAML file with an example of the composite resource.", "existing-file"),
    ),
    flags=(
        Flag(
            "output",
            "The file to write.",
            short="o",
            kind="path",
            default="definition.yaml",
            placeholder="FILE",
        ),
        Flag("plural", "The plural of the kind. By default it is inferred.", kind="string"),
        FORCE,
    ),
    description=(
        "The schema is inferred from the values of the example. Review it: mark required fields, "
        "add defaults\n"
        "and descriptions. In a project, `xrd generate` writes it into the APIs directory."
    ),
    examples=("crossply new xrd app.yaml", "crossply new xrd app.yaml -o apis/apps/definition.yaml"),
)
