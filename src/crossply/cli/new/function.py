"""`crossply new function`: create a composition function in Python, with a test and package metadata."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Invocation
from crossply.cli.new.new_files import DIRECTORY, FORCE, checked_name, into, write_new
from crossply.scaffold.function_package import function_files


def run(invocation: Invocation) -> int:
    """Write the files of a function's project."""
    name = checked_name(invocation["name"])
    folder = invocation["directory"] or name
    steps = [
        *into(folder),
        "pytest",
        "crossply test",
        "crossply render example/xr.yaml example/composition.yaml example/functions.yaml",
    ]
    return write_new(invocation, folder, function_files(name), steps)


COMMAND = Command(
    "function",
    "Create a composition function in Python.",
    run,
    arguments=(Argument("name", "The name of the function, and of its directory."),),
    flags=(DIRECTORY, FORCE),
    description=(
        "Creates a Python project with a function on Crossply's SDK: tests of the function alone "
        "and in a\n"
        "pipeline, an example of its use, and the files that `crossply xpkg build` needs."
    ),
    examples=("crossply new function function-hello",),
)
