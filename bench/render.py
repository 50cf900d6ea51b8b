"""How long a whole `crossply render` takes, and how many pipeline runs one process makes in a second."""

from __future__ import annotations

import pathlib
import sys
import tempfile
from collections.abc import Callable

import workload
from crossply.compose.composite_preparation import configure
from crossply.compose.effect_driver import drive
from crossply.compose.effects import Call, IsNamespaced
from crossply.compose.engine import Job, compose
from crossply.compose.function_messages import Request, Resource, Snapshot, State
from crossply.compose.in_memory_reconcile import identify
from crossply.compose.observed_resources import Observed, as_state
from crossply.compose.pipeline import PipelineReport
from crossply.compose.wire_codec import encode_request
from crossply.functions.function_set import Runners
from machine import bare_python_ms, command_ms, loop_per_second, per_second

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
COMMAND = [CROSSPLY, "render", "xr.yaml", "composition.yaml", "functions.yaml"]


def whole_command(resources: int) -> float:
    """Milliseconds for the command, from the shell's point of view."""
    with tempfile.TemporaryDirectory() as folder:
        workload.write_files(pathlib.Path(folder), resources)
        return command_ms(COMMAND, cwd=folder)


def whole_kcl_command() -> float:
    """Milliseconds for the command with one step in KCL, which composes three resources."""
    with tempfile.TemporaryDirectory() as folder:
        workload.write_kcl_files(pathlib.Path(folder))
        return command_ms(COMMAND, cwd=folder)


def pipeline_run(resources: int) -> Callable[[], object]:
    """One run of the engine with in-process functions, everything warm."""
    prepared_composition = workload.prepared_composition(resources)
    xr = Snapshot(configure(identify(workload.XR), workload.MACHINERY, prepared_composition.composition))
    runners = Runners(workload.functions())

    handlers = {
        Call: lambda call: runners.call(call.step.function, call.request, 60),
        IsNamespaced: lambda _: True,
    }

    def run() -> object:
        return drive(compose(Job(xr, prepared_composition, {}), PipelineReport()), handlers)

    run()
    return run


def big_object(index: int) -> dict[str, object]:
    """An object of about 4 KB."""
    fields = {f"field{n}": {"value": "x" * 20, "number": n, "flag": True} for n in range(55)}
    metadata = {"name": f"object-{index}", "namespace": "default"}
    return {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": metadata, "spec": fields}


def request_from_fragments() -> Callable[[], bytes]:
    """Encode a request with a hundred observed resources that are encoded already."""
    observed = {f"r{n}": Observed(Snapshot(big_object(n))) for n in range(100)}
    xr = Snapshot(identify(workload.XR))

    def build() -> bytes:
        return encode_request(Request(as_state(xr, {}, observed), State(Resource({}), {}), tag="given"))

    build()
    return build


def main() -> None:
    bare, loop = bare_python_ms(), loop_per_second()
    print(f"yardsticks: python -c pass {bare:.1f} ms; {loop:,.0f} small dicts a second")
    for resources, goal in ((3, 8), (100, 14)):
        took = whole_command(resources)
        ratio = took / bare_python_ms()
        times = f"{took:6.1f} ms = {ratio:5.1f} x python -c pass"
        print(f"crossply render, {resources:3} resources: {times} (goal {goal})")
    ratio = whole_kcl_command() / bare_python_ms()
    print(f"crossply render, KCL, 3 resources: {ratio:5.1f} x python -c pass (goal 12)")
    for resources, goal in ((3, 2500), (100, 200)):
        runs = per_second(pipeline_run(resources), 3)
        speed = f"{runs:8,.0f} a second (goal {goal:,}), {runs / loop:.3f} x yardstick"
        print(f"pipeline runs, {resources:3} resources: {speed}")
    builds = per_second(request_from_fragments())
    print(f"request of 100 observed 4 KB resources from fragments: {1000 / builds:.2f} ms (goal 1)")


if __name__ == "__main__":
    main()
