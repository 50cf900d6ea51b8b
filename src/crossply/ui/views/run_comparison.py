"""Two runs side by side: what each was given, what each step made of it, and what they wrote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.runs.model import EVENT, Run
from crossply.runs.run_differences import RunDifferences, compare_runs, last_steps
from crossply.ui.views.field_differences import (
    CHANGED,
    DifferenceGroup,
    DifferenceRow,
    difference_rows,
    differing_fields,
)
from crossply.ui.views.short_text import cut
from crossply.values.differences import Difference

_TIMES = ("lastTransitionTime", "observedGeneration", "creationTimestamp", "uid", "generation")
"""Fields of inputs that differ between any two runs."""
_REFERENCES = ("spec", "crossplane", "resourceRefs")
"""What the control plane notes of the resources that an earlier run composed."""


class StepComparison(NamedTuple):
    """One step in both runs."""

    name: str
    seconds: tuple[float | None, float | None]
    group: DifferenceGroup | None
    """What it made differently; None where nothing."""


class RunComparison(NamedTuple):
    """What differs between two runs."""

    facts: tuple[DifferenceRow, ...]
    """What differs between their summaries."""
    inputs: tuple[DifferenceGroup, ...]
    steps: tuple[StepComparison, ...]
    first_different: str
    """The first step that made something else; empty where none did."""
    effects: tuple[DifferenceGroup, ...]


def run_comparison(left: Run, right: Run) -> RunComparison:
    """What differs between two runs, of the same composite resource or of two."""
    differences = compare_runs(left, right)
    steps = tuple(_steps(left, right, differences))
    return RunComparison(
        facts=tuple(_facts(left, right)),
        inputs=tuple(_inputs(differences)),
        steps=steps,
        first_different=next((step.name for step in steps if step.group is not None), ""),
        effects=tuple(
            differing_fields(f"{effect.verb} {effect.target}", effect.fields, effect.before, effect.after)
            for effect in differences.effects
            if effect.verb != EVENT
        ),
    )


def _facts(left: Run, right: Run) -> list[DifferenceRow]:
    def facts_of(run: Run) -> dict[str, object]:
        summary = run.summary
        return {
            "outcome": summary.outcome,
            "problem": cut(summary.problem, 1000),
            "trigger": "; ".join(summary.triggers),
            "revision": summary.revision,
        }

    return difference_rows(facts_of(left), facts_of(right))


def _inputs(differences: RunDifferences) -> Iterable[DifferenceGroup]:
    for part in differences.inputs:
        fields = [field for field in part.fields if not _is_bookkeeping(field)]
        if fields:
            yield differing_fields(part.part, fields)


def _is_bookkeeping(field: Difference) -> bool:
    return field.path[:3] == _REFERENCES or (bool(field.path) and field.path[-1] in _TIMES)


def _steps(left: Run, right: Run, differences: RunDifferences) -> Iterable[StepComparison]:
    differing = {part.part.removeprefix("step "): part.fields for part in differences.steps}
    ours, theirs = ({step.name: step.seconds for step in last_steps(run)} for run in (left, right))
    for name in {**ours, **theirs}:
        fields = differing.get(name)
        group = differing_fields(name, _short(fields))._replace(change=CHANGED) if fields else None
        yield StepComparison(cut(name, 80), (ours.get(name), theirs.get(name)), group)


def _short(fields: Iterable[Difference]) -> list[Difference]:
    """Fields of desired resources by the resource's name: `web.spec.size`."""
    short = []
    for field in fields:
        is_resource = field.path[:2] == ("desired", "resources") and field.path[3:4] == ("resource",)
        short.append(field._replace(path=(*field.path[2:3], *field.path[4:])) if is_resource else field)
    return short
