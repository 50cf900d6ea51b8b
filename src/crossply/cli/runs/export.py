"""`crossply runs export`: a recorded run as a directory for `render` and `test`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.cli.controller.function_flags import HOST_ACCESS_FLAGS
from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.cli.runs.run_reference import ACCESS_FLAGS, RUN, Recorder, with_recorder

if TYPE_CHECKING:
    from crossply.runs.model import Run
    from crossply.values import Object


def run(invocation: Invocation) -> int:
    """Write the files of a run."""
    from crossply.runs.export import ExportRefused, export_files
    from crossply.runs.export_readme import render_command

    directory = invocation["directory"]
    if not invocation["force"] and os.path.isdir(directory) and os.listdir(directory):
        raise ExportRefused(f"cannot export the run: {directory} is not empty")
    recorded, functions = with_recorder(invocation, lambda recorder: _load(invocation, recorder))
    files = export_files(recorded, functions)
    for path, text in files.items():
        _write(directory, path, text)
    shown = os.path.relpath(directory)
    invocation.stdout.write(f"Exported run {recorded.summary.id} to {shown}: {len(files)} files.\n")
    if recorded.redacted:
        invocation.stdout.write(f"{recorded.redacted} secret values are placeholders; README.md says more.\n")
    style = invocation.style
    for command in (render_command(files), "crossply test"):
        invocation.stdout.write(f"  {style.accent(f'cd {shown} && {command}')}\n")
    return 0


async def _load(invocation: Invocation, recorder: Recorder) -> tuple[Run, list[Object]]:
    from crossply.cli.runs.replay_functions import access_of, functions_of_cluster, with_built_in
    from crossply.runs.recorded_pipeline import called_functions
    from crossply.runs.replay import FunctionMissing

    recorded = await recorder.load(invocation["run"])
    called = called_functions(recorded.world)
    functions = await functions_of_cluster(recorder.client, recorded, called, access_of(invocation))
    try:
        return recorded, with_built_in(functions, called)
    except FunctionMissing as problem:
        raise problem.replace(hint=_MISSING) from None


_MISSING = (
    "export needs its package: install the Function again, or be allowed to get functions.pkg.crossplane.io"
)


def _write(directory: str, name: str, text: str) -> None:
    from crossply.manifests.file_io import check_no_links, make_directory, write_file

    path = os.path.join(directory, name)
    check_no_links(directory, path, "cannot export the run")
    make_directory(os.path.dirname(path), "cannot export the run")
    write_file(path, text, "cannot export the run")


COMMAND = Command(
    "export",
    "Export a recorded run to a directory that 'crossply render' and 'crossply test' read.",
    run,
    arguments=(
        RUN,
        Argument("directory", "The directory to write. It is created if it does not exist.", kind="path"),
    ),
    flags=(
        Flag("force", "Also write to a directory that is not empty."),
        *HOST_ACCESS_FLAGS,
        *ACCESS_FLAGS,
    ),
    description=(
        "Use the directory as a bug report or as a test case. It contains the XR, the Composition, the "
        "functions, the observed and required resources, a test that expects the recorded result, and a "
        "README with the commands.\n\n"
        "Secret values are never recorded: placeholders replace them."
    ),
    examples=(
        "crossply runs export app/web report -n apps",
        "crossply runs export 01hf3k tests/regression-17",
        "crossply runs export latest report --force",
    ),
)
