"""Where the fields come from that a recorded run desired."""

from __future__ import annotations

from collections.abc import Mapping

from crossply.compose.effects import Call, FetchComposition
from crossply.functions import builtin
from crossply.kinds.composition import NATIVE_FUNCTION
from crossply.provenance.model import Provenance
from crossply.provenance.pipeline import StepCall, explain_pipeline
from crossply.runs.model import World


def explain_run(world: World, packages: Mapping[str, str] | None = None) -> Provenance:
    """Trace the last pipeline of a run once more.

    `packages` are those of functions by name. A function that is not in it, and that has the name of a
    built-in one, is taken for that.
    """
    return explain_pipeline(last_calls(world, packages or {}))


def last_calls(world: World, packages: Mapping[str, str]) -> list[StepCall]:
    """The last call of each step, in the last pipeline of the run."""
    calls: dict[str, StepCall] = {}
    for exchange in world.exchanges:
        if isinstance(exchange.effect, FetchComposition):
            calls = {}
        elif isinstance(exchange.effect, Call) and exchange.answer is not None:
            step, request = exchange.effect
            package = packages.get(step.function) or _package(step.function)
            calls[step.name] = StepCall(step.name, step.function, package, request, exchange.answer)
    return list(calls.values())


def _package(function: str) -> str:
    if function == NATIVE_FUNCTION:
        return builtin.NATIVE
    name = builtin.find(function)
    return function if name is None else f"{builtin.PACKAGE_PREFIX}{name}"
