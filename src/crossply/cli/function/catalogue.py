"""`crossply functions`: list the built-in functions, and how far each was compared with the published one."""

from __future__ import annotations

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.failure_reports import align
from crossply.functions.builtin.catalogue import CATALOGUE

_HEAD = ("NAME", "COMPARED WITH", "REPLACES", "HOW")


def run(invocation: Invocation) -> int:
    """Write one line, or one JSON object, a function."""
    invocation.stdout.write(_json() if invocation["output"] == "json" else _table())
    return 0


def _table() -> str:
    rows = [
        (function.name, function.version, ", ".join(function.repositories), function.comparison)
        for function in CATALOGUE
    ]
    return align("".join("\t".join(row) + "\n" for row in (_HEAD, *rows)))


def _json() -> str:
    import json

    functions = [
        {
            "name": function.name,
            "package": function.package,
            "replaces": list(function.repositories),
            "comparedWith": function.version,
            "how": function.comparison,
        }
        for function in CATALOGUE
    ]
    return json.dumps(functions, indent=2) + "\n"


COMMAND = Command(
    "functions",
    "List the built-in functions and the published versions they were compared with.",
    run,
    flags=(
        Flag(
            "output",
            "The output format: table or json.",
            short="o",
            kind="string",
            default="table",
            choices=("table", "json"),
            placeholder="table|json",
        ),
    ),
    description=(
        "A built-in function replaces the published packages in the column REPLACES, on any registry and in\n"
        "any version. The column COMPARED WITH has the published version that it was compared with last."
    ),
    examples=("crossply functions", "crossply functions -o json"),
)
