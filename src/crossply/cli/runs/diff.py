"""`crossply runs diff`: what differs between two runs in inputs, steps and effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.framework.command import Argument, Command, Invocation
from crossply.cli.framework.common_flags import output_flag
from crossply.cli.runs.run_reference import ACCESS_FLAGS, Recorder, with_recorder

if TYPE_CHECKING:
    from crossply.runs.model import Run


def run(invocation: Invocation) -> int:
    """Compare two runs; the exit code is 1 where they differ."""
    from crossply.runs.run_differences import compare_runs

    first, second = invocation["before"], invocation["after"]

    async def load(recorder: Recorder) -> tuple[Run, Run]:
        if not second:
            return await recorder.load(f"{first}~1"), await recorder.load(first)
        return await recorder.load(first), await recorder.load(second)

    before, after = with_recorder(invocation, load)
    differences = compare_runs(before, after)
    if invocation["output"] in ("json", "yaml"):
        from crossply.cli.runs.json_output import differences_object, write_object

        write_object(differences_object(differences), invocation["output"], invocation.stdout)
        return 0 if differences.is_empty else 1
    from crossply.cli.runs.difference_text import difference_lines

    style = invocation.style
    if differences.is_empty:
        invocation.stdout.write(f"The runs {before.summary.id} and {after.summary.id} are the same.\n")
        return 0
    invocation.stdout.write(f"{style.bold(f'Run {before.summary.id} → {after.summary.id}')}\n")
    invocation.stdout.writelines(f"{line}\n" for line in difference_lines(differences, style))
    return 1


COMMAND = Command(
    "diff",
    "Compare two recorded runs: what differs in their inputs, steps and effects.",
    run,
    arguments=(
        Argument("before", "The first run, as in 'crossply runs show'."),
        Argument(
            "after",
            "The second run. Without it, KIND[.GROUP]/NAME compares the latest two runs of an XR.",
            optional=True,
        ),
    ),
    flags=(
        *ACCESS_FLAGS,
        output_flag("default", "json", "yaml"),
    ),
    description="The exit code is 0 where the runs are the same and 1 where they differ.",
    examples=(
        "crossply runs diff app/web -n apps",
        "crossply runs diff app/web~3 app/web -n apps",
        "crossply runs diff 01hf3k 01hf7q",
    ),
)
