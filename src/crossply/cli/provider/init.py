"""`crossply provider init`: create a provider in Python, with a kind and its test."""

from __future__ import annotations

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.new.new_files import DIRECTORY, FORCE, checked_name, into, write_new
from crossply.scaffold.provider_package import provider_files


def run(invocation: Invocation) -> int:
    """Write the files of a provider, and the CRDs of its kind."""
    from crossply.cli.provider.crd_generation import write_crds

    name = checked_name(invocation["name"])
    folder = invocation["directory"] or name
    group = invocation["group"] or f"{name.removeprefix('provider-')}.example.org"
    files = provider_files(name, checked_name(group, dots=True))
    steps = [*into(folder), "pytest", "crossply provider run", "kubectl apply -f examples/"]
    code = write_new(invocation, folder, files, steps)
    write_crds(folder)
    return code


COMMAND = Command(
    "init",
    "Create a provider in Python, with a kind and its test.",
    run,
    arguments=(Argument("name", "The name of the provider, and of its directory."),),
    flags=(
        DIRECTORY,
        Flag(
            "group",
            "The API group of its kinds. Defaults to the name with .example.org.",
            kind="string",
            placeholder="GROUP",
        ),
        FORCE,
    ),
    description=(
        "Creates a directory with a Python package that declares a kind of managed resource and the "
        "provider's\n"
        "configuration, tests, examples, generated CRDs and package metadata. The provider works\n"
        "without changes: its kind manages text files. Replace the kind with your own."
    ),
    examples=(
        "crossply provider init provider-tickets",
        "crossply provider init provider-tickets --group=tickets.acme.example",
    ),
)
