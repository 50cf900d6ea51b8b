"""`crossply runs show`: one run with its waterfall and what each step changed, or what one step was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.framework.command import Command, Flag, Invocation, UsageError
from crossply.cli.framework.common_flags import output_flag
from crossply.cli.runs.run_reference import ACCESS_FLAGS, RUN, with_recorder

if TYPE_CHECKING:
    from crossply.runs.model import Run, StepRun


def run(invocation: Invocation) -> int:
    """Show a run, or one step of it."""
    recorded = with_recorder(invocation, lambda recorder: recorder.load(invocation["run"]))
    if invocation["step"]:
        return _show_step(invocation, recorded)
    output = invocation["output"]
    if output in ("json", "yaml"):
        from crossply.cli.runs.json_output import run_object, write_object

        write_object(run_object(recorded), output, invocation.stdout)
        return 0
    from crossply.cli.runs.run_text import RunText
    from crossply.runs.run_provenance import explain_run

    text = RunText(recorded, invocation.style, explain_run(recorded.world))
    invocation.stdout.writelines(f"{line}\n" for line in text.lines())
    return 0


def _show_step(invocation: Invocation, recorded: Run) -> int:
    """Write the requests and responses of a step, in the order of its calls."""
    name = invocation["step"]
    steps = [step for step in recorded.steps if step.name == name]
    if not steps:
        known = ", ".join(dict.fromkeys(step.name for step in recorded.steps)) or "none"
        raise UsageError(f'--step: the run has no step "{name}"; its steps are {known}')
    from crossply.cli.runs.json_output import write_object
    from crossply.values.yaml import dump_all

    calls = [call for step in steps for call in _calls(step)]
    if invocation["output"] == "json":
        write_object({"calls": calls}, "json", invocation.stdout)
    else:
        invocation.stdout.write(dump_all(calls))
    return 0


def _calls(step: StepRun) -> list[dict[str, object]]:
    return [
        {
            "step": step.name,
            "function": step.function,
            "pipeline": step.pipeline,
            "round": number,
            "cached": round_.cached,
            "seconds": round(round_.seconds, 6),
            "request": round_.request,
            "response": round_.response,
            **({"problem": round_.problem} if round_.problem else {}),
        }
        for number, round_ in enumerate(step.rounds, 1)
    ]


COMMAND = Command(
    "show",
    "Show a recorded run: a waterfall of its steps, what each changed, and what was written.",
    run,
    arguments=(RUN,),
    flags=(
        Flag(
            "step",
            "Show the requests and responses of this step instead, as YAML.",
            short="s",
            kind="string",
            placeholder="STEP",
        ),
        *ACCESS_FLAGS,
        output_flag("default", "json", "yaml"),
    ),
    description=(
        "In the waterfall each step is a bar on the time axis of the run. Below it, each step lists the "
        "fields of the desired state that it added (+), changed (~) or removed (-), the resources that it "
        "required and how many were found, and its results. The end lists what was written, with the fields "
        "that changed. After a field is the patch or template line that set it, if the function reports it."
        "\n\n"
        "Secret values are never recorded: each is shown as redacted- and eight characters, the same "
        "wherever the value occurred."
    ),
    examples=(
        "crossply runs show 01hf3k",
        "crossply runs show app/web -n apps",
        "crossply runs show app/web -n apps --step compose",
        "crossply runs show latest -o json",
    ),
)
