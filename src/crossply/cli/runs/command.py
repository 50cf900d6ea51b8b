"""`crossply runs`: list recorded runs of an XR, or the latest of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.framework.common_flags import output_flag
from crossply.cli.runs.run_reference import ACCESS_FLAGS, Recorder, with_recorder

if TYPE_CHECKING:
    from crossply.runs.model import RunSummary

_NONE = "No runs: one is recorded when it changes something, and shown to users who may get its XR.\n"


def run(invocation: Invocation) -> int:
    """List runs, newest first."""
    from time import time

    resource, name = invocation["xr"] or "", invocation["name"] or ""
    check_subcommand(resource, name)
    runs = with_recorder(invocation, lambda recorder: _list(recorder, resource, name, invocation["limit"]))
    output = invocation["output"]
    if output in ("json", "yaml"):
        from crossply.cli.runs.json_output import run_list, write_object

        write_object(run_list(runs), output, invocation.stdout)
        return 0
    if not runs:
        invocation.stderr.write(_NONE)
        return 0
    from crossply.cli.runs.run_table import RunTable

    is_one = bool(name or "/" in resource)
    table = RunTable(invocation.style, time(), output == "wide", subjects=not is_one)
    invocation.stdout.writelines(f"{line}\n" for line in table.lines(runs))
    if invocation.style.decorated:
        invocation.stderr.write(invocation.error_style.dim(f"\ncrossply runs show {runs[0].id}\n"))
    return 0


async def _list(recorder: Recorder, resource: str, name: str, limit: int) -> list[RunSummary]:
    runs = await recorder.list(resource, name, limit)
    if resource and not runs:
        from crossply.cli.runs.target_check import check_target

        await check_target(recorder.client, resource, name, recorder.namespace)
    return runs


def check_subcommand(word: str, behind: str) -> None:
    """Raise UsageError for `runs shwo app/web`: a name has no slash, so the first word is no kind."""
    if "/" in behind:
        from crossply.cli.framework.suggestions import unknown_command

        raise unknown_command("runs", word, frozenset())


COMMAND = Command(
    "runs",
    "List recorded pipeline runs of an XR: when, why, how long, what changed.",
    run,
    arguments=(
        Argument(
            "xr", "The XR, as KIND[.GROUP]/NAME, or its kind alone. Without it, runs of all.", optional=True
        ),
        Argument("name", "Name of the XR, unless it is part of the first argument.", optional=True),
    ),
    flags=(
        *ACCESS_FLAGS,
        Flag("limit", "How many runs to list.", kind="int", default="20"),
        output_flag("default", "wide", "json", "yaml"),
    ),
    description=(
        "The control plane records each run of a pipeline that changes something or fails: what triggered "
        "it, the request and response of each function, and what was written. Runs that change nothing are "
        "counted in SAME SINCE. You see the runs of the XRs that you may get.\n\n"
        "crossply up records by default, crossply controller with --record-runs."
    ),
    examples=(
        "crossply runs app/web -n apps",
        "crossply runs app web -n apps -o wide",
        "crossply runs",
        "crossply runs show app/web -n apps",
        "crossply runs diff app/web~1 app/web -n apps",
        "crossply runs replay app/web -n apps --composition composition.yaml",
    ),
)
