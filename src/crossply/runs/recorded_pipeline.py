"""The pipeline that a recorded run went through, and the functions that it calls."""

from __future__ import annotations

from crossply.compose.effects import FetchComposition
from crossply.kinds.composition import Composition, Step
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.kinds.operation import parse_operation
from crossply.runs.model import OPERATION, World


def composition_of(world: World) -> Composition | None:
    """The Composition that a run used; None where it did not get so far, and for Operations."""
    for exchange in reversed(world.exchanges):
        if isinstance(exchange.effect, FetchComposition) and exchange.answer is not None:
            composition: Composition = exchange.answer.composition
            return composition
    return None


def steps_of(world: World, composition: Composition | None = None) -> tuple[Step, ...]:
    """The steps of the run, or those of another Composition that it is to use."""
    if world.engine == OPERATION:
        return parse_operation(world.xr).steps
    composition = composition or composition_of(world)
    return () if composition is None else composition.steps


def called_functions(world: World, composition: Composition | None = None) -> set[str]:
    """The names of the Functions that the steps call; steps of older forms call none."""
    steps = steps_of(world, composition)
    return {step.function for step in steps if step.function != NATIVE_FUNCTION and step.container is None}
