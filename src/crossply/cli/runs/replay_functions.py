"""The functions that a run is replayed with: those of directories, of the cluster, and built-in ones."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from crossply.cli.controller.function_flags import host_access
from crossply.cli.framework.command import Invocation, UsageError
from crossply.cli.local_control_plane.data_directory import data_directories_near
from crossply.compose.function_messages import Request, Response
from crossply.compose.in_memory_cluster import CallFunction
from crossply.errors import CrossplyError
from crossply.functions.host_access_policy import HostAccess, HostAccessRefused
from crossply.kinds.composition import Step
from crossply.kube.client import Client
from crossply.kube.failures import KubeError
from crossply.runs.model import Run, World
from crossply.runs.replay import FunctionMissing, recorded_call
from crossply.values import Object


def check_names(replaced: Iterable[str], called: Collection[str]) -> None:
    """Raise UsageError for a function of `--function` that the pipeline does not call."""
    for name in replaced:
        if name not in called:
            names = f"the functions {', '.join(sorted(called))}" if called else "no function"
            raise UsageError(f'--function: no step calls "{name}"; the pipeline calls {names}')


def functions_in_directories(directories: Mapping[str, str]) -> list[Object]:
    """The functions of `--function NAME=DIR`."""
    from crossply.project.function_manifests import function_in

    functions = []
    for name, directory in directories.items():
        path = os.path.abspath(os.path.expanduser(directory))
        try:
            functions.append(function_in(path, name))
        except FileNotFoundError:
            raise UsageError(f"--function: there is no {directory}") from None
        except CrossplyError as problem:
            raise problem.within(f"--function: {name}={directory}") from None
    return functions


async def functions_of_cluster(
    client: Client, run: Run, names: Iterable[str], access: HostAccess
) -> list[Object]:
    """The Functions of the cluster with these names, of the package that the run called.

    Everybody who may write Functions there chose their annotations. Raises HostAccessRefused for one that
    would run or read what `access` does not allow of this machine.
    """
    revisions = {step.function: step.function_revision for step in run.steps}
    candidates = [await _function(client, name, revisions.get(name, "")) for name in sorted(set(names))]
    functions = [function for function in candidates if function is not None]
    for function in functions:
        try:
            access.check(function)
        except HostAccessRefused as refusal:
            raise refusal.replace(hint=_ALLOW) from None
    return functions


def access_of(invocation: Invocation) -> HostAccess:
    """What Functions of the cluster may use of this machine, by the flags."""
    return host_access(invocation, *data_directories_near("", invocation.environ))


_ALLOW = "if you know who wrote it, give the flag; or run one of your own with runs replay --function"


async def _function(client: Client, name: str, revision: str) -> Object | None:
    """A Function as it is, but with the image of the revision; None where it is gone or may not be read."""
    from crossply.control.kinds import FUNCTION, FUNCTION_REVISION

    try:
        function = await client.get(FUNCTION, name)
        called = await client.get(FUNCTION_REVISION, revision) if revision else None
    except KubeError:
        return None
    image = ((called or {}).get("spec") or {}).get("image")
    if function is None or not image:
        return function
    return {**function, "spec": {**function["spec"], "package": image}}


def with_built_in(functions: list[Object], called: Collection[str]) -> list[Object]:
    """The functions, and built-in ones for the names that are still unknown; raises FunctionMissing."""
    from crossply.compose.object_metadata import name_of
    from crossply.rendering.available_functions import available_functions

    available = available_functions(functions, called, None, lambda source, constraint: constraint)
    missing = sorted(set(called) - {name_of(function) for function in available})
    if missing:
        raise FunctionMissing(f'cannot find Function "{missing[0]}" in the cluster')
    return available


@contextmanager
def calling(
    functions: list[Object], timeout: float, world: World, recorded: Collection[str] | None
) -> Iterator[CallFunction]:
    """Call functions, but take the recorded responses of those whose names are in `recorded`."""
    from crossply.rendering.running_functions import caller, running

    with running(functions, None) as runners:
        live, then = caller(runners, timeout), recorded_call(world)

        def call(step: Step, request: Request) -> Response:
            return (then if recorded is not None and step.function in recorded else live)(step, request)

        yield call
