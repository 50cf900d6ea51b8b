"""What differs between two runs: in their inputs, in what their steps made of them, in what they wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from crossply.runs.effect_differences import EffectDifference, compare_effects, encoded
from crossply.runs.model import Run, StepRun
from crossply.runs.recorded_pipeline import steps_of
from crossply.runs.replay import recorded_effects
from crossply.values import Object
from crossply.values.differences import MISSING, Difference, differences

_NOISE = ("managedFields", "resourceVersion")
"""Metadata that differs between any two states of an object, and says nothing to functions."""


class PartDifference(NamedTuple):
    """A part of two runs that differs: an input, or a step."""

    part: str
    """`composite resource`, `observed bucket`, `step compose` and so on."""
    fields: tuple[Difference, ...]


class RunDifferences(NamedTuple):
    """Everything in which two runs differ."""

    inputs: tuple[PartDifference, ...]
    steps: tuple[PartDifference, ...]
    effects: tuple[EffectDifference, ...]
    outcome: tuple[Difference, ...]

    @property
    def is_empty(self) -> bool:
        return not any(self)


def compare_runs(before: Run, after: Run) -> RunDifferences:
    """The second run compared with the first."""
    return RunDifferences(
        _differing(_inputs(before), _inputs(after)),
        tuple(_differing_steps(before, after)),
        compare_effects(recorded_effects(before.world), recorded_effects(after.world)),
        tuple(differences(_outcome(before), _outcome(after))),
    )


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[PartDifference, ...]:
    parts = []
    for part in {**before, **after}:
        fields = differences(before.get(part, MISSING), after.get(part, MISSING))
        if fields:
            parts.append(PartDifference(part, tuple(fields)))
    return tuple(parts)


def _inputs(run: Run) -> dict[str, Any]:
    inputs: dict[str, Any] = {
        "Composition": {"name": run.summary.composition, "revision": run.summary.revision},
        "composite resource": without_noise(run.composite),
    }
    inputs |= {f"observed {name}": without_noise(obj) for name, obj in run.observed.items()}
    inputs |= {f"input of step {name}": value for name, value in _step_inputs(run).items()}
    for step in last_steps(run):
        for requirement, required in _required_objects(step):
            inputs[f"required by step {step.name} as {requirement}"] = required
    return inputs


def _step_inputs(run: Run) -> dict[str, Object]:
    return {step.name: step.input for step in steps_of(run.world) if step.input is not None}


def _required_objects(step: StepRun) -> Iterator[tuple[str, Any]]:
    """What was read for the requirements of a step; of what was read in several rounds the last."""
    required: Object = {}
    for round_ in step.rounds:
        required |= round_.required
    for name, value in required.items():
        yield name, [without_noise(obj) for obj in value] if isinstance(value, list) else value


def last_steps(run: Run) -> list[StepRun]:
    """The steps as they ran last: a run that creates something runs its pipeline twice."""
    last = max((step.pipeline for step in run.steps), default=1)
    return [step for step in run.steps if step.pipeline == last]


def _differing_steps(before: Run, after: Run) -> Iterator[PartDifference]:
    """The steps that differ; what a step was given and only passed on counts for an earlier one."""
    first, second = ({step.name: step for step in last_steps(run)} for run in (before, after))
    for name in {**first, **second}:
        steps = (first.get(name), second.get(name))
        input_differences = {encoded(list(field)) for field in differences(*map(_step_input, steps))}
        fields = [
            field
            for field in differences(*map(_step_output, steps))
            if encoded(list(field)) not in input_differences
        ]
        if fields:
            yield PartDifference(f"step {name}", tuple(fields))


def _step_input(step: StepRun | None) -> Any:
    """What a step got from the steps before it."""
    return MISSING if step is None else {"desired": step.desired_before, "context": step.context_before}


def _step_output(step: StepRun | None) -> Any:
    """What a step made of it."""
    if step is None:
        return MISSING
    return {
        "function": step.function,
        "revision": step.function_revision,
        "desired": step.desired_after,
        "context": step.context_after,
        "results": list(step.results),
        "conditions": list(step.conditions),
        **({"problem": step.problem} if step.problem else {}),
    }


def _outcome(run: Run) -> Object:
    return {"outcome": run.summary.outcome, "problem": run.summary.problem, "code": run.summary.code}


def without_noise(obj: Any) -> Any:
    """An object without the metadata that changes with every write."""
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    if not isinstance(metadata, dict):
        return obj
    return {**obj, "metadata": {key: value for key, value in metadata.items() if key not in _NOISE}}
