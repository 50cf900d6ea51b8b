"""The functions of `render`: loaded, annotated, checked, and called until the command's time is up."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import NoReturn

from crossply.cli.framework.command import Invocation
from crossply.cli.framework.manifest_files import PROJECT_FILE
from crossply.cli.render import inputs
from crossply.compose.errors import StepFailed
from crossply.compose.messages import Request, Response
from crossply.compose.metadata import annotations_of, metadata_of, name_of
from crossply.compose.offline import CallFunction
from crossply.errors import CrossplyError
from crossply.functions.binding import BUILTIN, DOCKER, PYTHON_FILE, TEMPLATES_DIRECTORY, choose_runtime
from crossply.functions.runners import Runners
from crossply.kinds.composition import Step
from crossply.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from crossply.cli.render.available_functions import BestTag

_TERMINATED = 143
"""The exit code of a program that SIGTERM ended."""


def functions_for(invocation: Invocation, file: inputs.CompositionFile) -> list[Object]:
    """The functions to render with; a Composition from before pipelines needs none."""
    called = inputs.called_functions(file.composition)
    if not invocation["functions"] and not called:
        return []
    return named_functions(invocation, called, "crossply render xr.yaml composition.yaml functions.yaml")


def named_functions(invocation: Invocation, called: Collection[str], example: str) -> list[Object]:
    """The functions that the command line names and, in a project, those that are `called` besides.

    They have the annotations that the command line gives them.
    """
    path, project = invocation["functions"], _project_file(invocation)
    if not path and project is None:
        raise inputs.RenderRefused(
            "functions argument is required when not in a project",
            hint=f"name a file of Function packages, for example: {example}",
        )
    functions = inputs.load_functions(path) if path else []
    if project is not None:
        from crossply.cli.render.available_functions import available_functions

        functions = available_functions(functions, called, project, _best_tag(invocation))
    return _annotated(functions, invocation["function-annotations"] or ())


def _project_file(invocation: Invocation) -> str | None:
    """The file of the project that the command is run in, if it is."""
    file: str = invocation["project-file"] or PROJECT_FILE
    return file if os.path.exists(file) else None


def _best_tag(invocation: Invocation) -> BestTag:
    def best(source: str, constraint: str) -> str:
        from crossply.cli.xpkg.images import best_tag

        return best_tag(invocation, source, constraint)

    return best


def _annotated(functions: list[Object], overrides: Iterable[str]) -> list[Object]:
    """The functions with annotations of the command line over their own."""
    given = {}
    for override in overrides:
        key, separator, value = override.partition("=")
        if not separator:
            raise inputs.RenderRefused(
                "cannot apply function annotation overrides: invalid function annotation format "
                f'"{override}", expected key=value'
            )
        given[key] = value
    if not given:
        return functions
    return [_with_annotations(function, given) for function in functions]


def _with_annotations(function: Object, given: dict[str, str]) -> Object:
    annotations = {**annotations_of(function), **given}
    return {**function, "metadata": {**metadata_of(function), "annotations": annotations}}


@contextmanager
def running(functions: Iterable[Object], preferred: str | None) -> Iterator[Runners]:
    """The functions, ready to be called; what was started for them is stopped however the command ends."""
    functions = list(functions)
    runtimes = {_runtime_of(function, preferred) for function in functions}
    with (
        _sigterm_raised() if runtimes - {BUILTIN} else nullcontext(),
        Runners(functions, preferred) as runners,
    ):
        try:
            yield runners
        except StepFailed as problem:
            problem.hint = f"{_where(problem.function, functions)}{problem.hint}"
            raise


def _where(name: str, functions: Iterable[Object]) -> str:
    """Where the code of a function is that runs from files."""
    for function in functions:
        if name_of(function) == name:
            annotations = annotations_of(function)
            source = annotations.get(PYTHON_FILE) or annotations.get(TEMPLATES_DIRECTORY)
            return f'look at Function "{name}" in {os.path.relpath(source)}; ' if source else ""
    return ""


@contextmanager
def _sigterm_raised() -> Iterator[None]:
    """Leave by an exception when told to end: the default would leave processes and containers behind."""
    import signal

    def leave(*_: object) -> NoReturn:
        raise SystemExit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _runtime_of(function: Object, preferred: str | None) -> str:
    """How a function is run; annotations that say nothing are refused, also where no step uses it."""
    try:
        runtime = choose_runtime(function, preferred)
        _check_annotations(function, runtime)
    except CrossplyError as problem:
        story = f'cannot start function runtimes: cannot get runtime for Function "{name_of(function)}"'
        raise problem.within(story) from None
    return runtime


def _check_annotations(function: Object, runtime: str) -> None:
    annotations = annotations_of(function)
    # A mistake in them is one also where the function runs built in: elsewhere it would be met.
    if runtime in (DOCKER, BUILTIN) and any("/runtime-docker-" in key for key in annotations):
        from crossply.functions.docker_settings import read_settings

        read_settings(name_of(function), "", annotations)


def caller(runners: Runners, timeout: float) -> CallFunction:
    """Call functions by name until the time of the whole command is up."""
    deadline = monotonic() + timeout

    def call(step: Step, request: Request) -> Response:
        return runners.call_step(step, request, max(deadline - monotonic(), 0.001))

    return call
