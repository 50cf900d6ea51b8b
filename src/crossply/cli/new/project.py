"""`crossply new project`: create a project with an API, a Composition and a test."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.new.new_files import DIRECTORY, FORCE, checked_kind, checked_name, into, write_new
from crossply.convert.plural import plural_of
from crossply.scaffold.project import project_files


def run(invocation: Invocation) -> int:
    """Write the files of a project."""
    name, kind = checked_name(invocation["name"]), checked_kind(invocation["kind"])
    folder = invocation["directory"] or name
    files = project_files(name, checked_name(invocation["group"], dots=True), kind)
    validating = f"crossply validate apis/{plural_of(kind)} examples"
    steps = ["crossply test", validating, "crossply xpkg build -f apis -e examples"]
    return write_new(invocation, folder, files, [*into(folder), *steps])


COMMAND = Command(
    "project",
    "Create a project with an API, a Composition, an example and a test.",
    run,
    arguments=(Argument("name", "The name of the project, and of its directory."),),
    flags=(
        DIRECTORY,
        Flag(
            "group", "The group of the API.", kind="string", default="example.org", placeholder="example.org"
        ),
        Flag("kind", "The kind of the API.", kind="string", default="App", placeholder="App"),
        FORCE,
    ),
    description=(
        "Creates a working project: its test passes, its example is valid, and it can be built "
        "into a\n"
        "package."
    ),
    examples=("crossply new project platform", "crossply new project platform --group=acme.io --kind=Shop"),
)
