"""The functions of a rendering: started, called until the time is up, and stopped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import NoReturn

from crossply.compose.errors import StepFailed
from crossply.compose.function_messages import Request, Response
from crossply.compose.in_memory_cluster import CallFunction
from crossply.compose.object_metadata import annotations_of, name_of
from crossply.errors import CrossplyError
from crossply.functions.binding import (
    BUILTIN,
    DOCKER,
    KCL_DIRECTORY,
    PYTHON_FILE,
    TEMPLATES_DIRECTORY,
    choose_runtime,
)
from crossply.functions.function_set import Runners
from crossply.kinds.composition import Step
from crossply.values import Object

_TERMINATED = 143
"""The exit code of a program that SIGTERM ended."""


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
            raise problem.replace(
                hint=f"{_code_location(problem.function, functions)}{problem.hint}"
            ) from None


def _code_location(name: str, functions: Iterable[Object]) -> str:
    """Where the code of a function is that runs from files."""
    for function in functions:
        if name_of(function) == name:
            annotations = annotations_of(function)
            sources = (PYTHON_FILE, TEMPLATES_DIRECTORY, KCL_DIRECTORY)
            source = next(filter(None, map(annotations.get, sources)), None)
            return f'look at Function "{name}" in {os.path.relpath(source)}; ' if source else ""
    return ""


@contextmanager
def _sigterm_raised() -> Iterator[None]:
    """Turn SIGTERM into an exception: the default action would leave processes and containers running."""
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
        prefix = f'cannot start function runtimes: cannot get runtime for Function "{name_of(function)}"'
        raise problem.within(prefix) from None
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
