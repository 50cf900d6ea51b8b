"""`crossply runs replay`: the recorded world of a run through the engine and functions of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.controller.function_flags import HOST_ACCESS_FLAGS
from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.framework.common_flags import output_flag
from crossply.cli.runs.run_reference import ACCESS_FLAGS, RUN, Recorder, with_recorder

if TYPE_CHECKING:
    from crossply.kinds.composition import Composition
    from crossply.runs.model import Run
    from crossply.runs.replay import Replayed
    from crossply.values import Object

_DEBUGGED_SECONDS = 86_400.0
"""The timeout for functions of directories, which may be stopped in a debugger."""


def run(invocation: Invocation) -> int:
    """Replay a run; the exit code is 1 where its effects are others than then."""
    from crossply.runs.effect_differences import compare_effects
    from crossply.runs.replay import recorded_effects

    composition = _composition(invocation)
    recorded, functions = with_recorder(invocation, lambda recorder: _load(invocation, recorder, composition))
    replayed = _replay(invocation, recorded, functions, composition)
    differences = compare_effects(recorded_effects(recorded.world), replayed.effects)
    if invocation["output"] in ("json", "yaml"):
        from crossply.cli.runs.json_output import replay_object, write_object

        write_object(replay_object(recorded, replayed, differences), invocation["output"], invocation.stdout)
    else:
        from crossply.cli.runs.difference_text import replay_lines

        lines = replay_lines(recorded, replayed, differences, invocation.style)
        invocation.stdout.writelines(f"{line}\n" for line in lines)
    return 1 if differences else 0


def _composition(invocation: Invocation) -> Composition | None:
    if not invocation["composition"]:
        return None
    from crossply.rendering.inputs import load_composition

    return load_composition(invocation["composition"]).composition


async def _load(
    invocation: Invocation, recorder: Recorder, composition: Composition | None
) -> tuple[Run, list[Object]]:
    """The run, and the functions that its pipeline calls."""
    from crossply.cli.runs.replay_functions import (
        access_of,
        check_names,
        functions_in_directories,
        functions_of_cluster,
        with_built_in,
    )
    from crossply.runs.recorded_pipeline import called_functions

    recorded = await recorder.load(invocation["run"])
    directories = invocation["function"] or {}
    called = called_functions(recorded.world, composition)
    check_names(directories, called)
    if invocation["recorded-functions"]:
        called &= set(directories)
    functions = functions_in_directories(directories)
    functions += await functions_of_cluster(
        recorder.client, recorded, called - set(directories), access_of(invocation)
    )
    return recorded, with_built_in(functions, called)


def _replay(
    invocation: Invocation, recorded: Run, functions: list[Object], composition: Composition | None
) -> Replayed:
    from crossply.cli.runs.replay_functions import calling
    from crossply.runs.recorded_pipeline import called_functions
    from crossply.runs.replay import replay

    directories = invocation["function"] or {}
    timeout = invocation["timeout"]
    if directories and not invocation.is_set("timeout"):
        timeout = _DEBUGGED_SECONDS
    answered = None
    if invocation["recorded-functions"]:
        answered = called_functions(recorded.world, composition) - set(directories)
    with calling(functions, timeout, recorded.world, answered) as call:
        return replay(recorded.world, call, composition)


COMMAND = Command(
    "replay",
    "Replay a recorded run with the current engine and functions, and show what differs.",
    run,
    arguments=(RUN,),
    flags=(
        Flag(
            "composition",
            "A YAML file with a Composition to use instead of the recorded revision.",
            kind="existing-file",
            placeholder="FILE",
        ),
        Flag(
            "function",
            "Run a function from a directory, or from a Python file, in this process. Repeatable.",
            kind="map",
            separator="",
            placeholder="NAME=DIR",
        ),
        Flag(
            "recorded-functions",
            "Use recorded responses instead of calling functions. Functions of --function are still called.",
        ),
        Flag(
            "timeout",
            "How long all functions together may take. With --function there is no limit by default.",
            kind="duration",
            default="1m",
            placeholder="1m",
        ),
        *HOST_ACCESS_FLAGS,
        *ACCESS_FLAGS,
        output_flag("default", "json", "yaml"),
    ),
    description=(
        "The engine gets the recorded input: the XR, the observed and required resources, and the time. Only "
        "functions are called again, unless --recorded-functions is set. Nothing is written. Instead, what "
        "would be written is compared byte by byte with what the run wrote: the exit code is 0 if it is the "
        "same and 1 if it differs.\n\n"
        "A Python function that --function names runs in this process, so breakpoint() in it opens the "
        "debugger, with the recorded request.\n\n"
        "Secret values are never recorded: functions get placeholders for them. A result that a function "
        "computes from the time, random numbers or a secret can differ."
    ),
    examples=(
        "crossply runs replay app/web -n apps",
        "crossply runs replay 01hf3k --composition composition.yaml",
        "crossply runs replay 01hf3k --function function-web=functions/web",
        "crossply runs replay 01hf3k --recorded-functions",
    ),
)
