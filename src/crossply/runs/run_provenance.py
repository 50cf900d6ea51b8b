"""Where the fields come from that a recorded run desired."""

from __future__ import annotations

from crossply.compose.effects import Call, FetchComposition
from crossply.provenance.call_recorder import StepCall
from crossply.provenance.model import Provenance
from crossply.provenance.pipeline import explain_pipeline
from crossply.runs.model import World


def explain_run(world: World) -> Provenance:
    """Trace the last pipeline of a run once more."""
    return explain_pipeline(last_calls(world))


def last_calls(world: World) -> list[StepCall]:
    """The last call of each step, in the last pipeline of the run."""
    calls: dict[str, StepCall] = {}
    for exchange in world.exchanges:
        if isinstance(exchange.effect, FetchComposition):
            calls = {}
        elif isinstance(exchange.effect, Call) and exchange.answer is not None:
            step, request = exchange.effect
            calls[step.name] = StepCall(step.name, step.function, request, exchange.answer)
    return list(calls.values())
