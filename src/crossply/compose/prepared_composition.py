"""A Composition made ready to run many times: compile once, run fresh for every composite resource."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.compose.function_messages import Snapshot
from crossply.kinds.composition import Composition, Step


class PreparedStep(NamedTuple):
    """A step with its input in the form that functions see."""

    step: Step
    input: Snapshot | None


class PreparedComposition(NamedTuple):
    """A Composition, or one revision of it, whose inputs need no further conversion."""

    composition: Composition
    steps: tuple[PreparedStep, ...]


def prepare(composition: Composition) -> PreparedComposition:
    """Convert every step's input once. Functions may remember what they made of an input they saw before."""
    return PreparedComposition(composition, prepare_steps(composition.steps))


def prepare_steps(steps: Iterable[Step]) -> tuple[PreparedStep, ...]:
    """The steps, each with its input converted."""
    return tuple(
        PreparedStep(step, Snapshot(step.input) if step.input is not None else None) for step in steps
    )
