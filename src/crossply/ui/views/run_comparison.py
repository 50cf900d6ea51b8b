"""Two runs side by side: what each was given, what each step answered, and what each did to the cluster."""

from __future__ import annotations

from typing import NamedTuple

from crossply.runs.model import EVENT, Run, StepRun
from crossply.ui.views.field_differences import (
    DifferenceGroup,
    DifferenceRow,
    desired_groups,
    difference_rows,
    object_group,
)
from crossply.ui.views.run_waterfall import effect_object
from crossply.ui.views.short_text import cut

SAME, DIFFERENT, ONLY_LEFT, ONLY_RIGHT = "same", "different", "only in the first", "only in the second"
_UNTOLD = ("metadata.resourceVersion", "metadata.managedFields", "metadata.generation")


class StepComparison(NamedTuple):
    """One step in both runs."""

    name: str
    sameness: str
    left: StepRun | None
    right: StepRun | None
    groups: tuple[DifferenceGroup, ...]
    """What differs in the desired state after it."""
    facts: tuple[str, ...]
    """What differs besides: function revisions, results, rounds."""


class RunComparison(NamedTuple):
    """What differs between two runs."""

    facts: tuple[DifferenceRow, ...]
    """What differs between their summaries."""
    inputs: tuple[DifferenceGroup, ...]
    """What differs in what they were given: the composite resource and the observed resources."""
    steps: tuple[StepComparison, ...]
    first_different: str
    """The first step whose answer differs; empty where none does."""
    effects: tuple[tuple[str, str, str], ...]
    """Verb, object, and in which of the runs it happened."""


def compare_runs(left: Run, right: Run) -> RunComparison:
    """What differs between two runs, of the same composite resource or of two."""
    steps = _steps(left, right)
    first = next((step.name for step in steps if step.sameness != SAME), "")
    return RunComparison(
        tuple(_facts(left, right)),
        tuple(_inputs(left, right)),
        tuple(steps),
        first,
        tuple(_effects(left, right)),
    )


def _facts(left: Run, right: Run) -> list[DifferenceRow]:
    def facts_of(run: Run) -> dict[str, object]:
        summary = run.summary
        return {
            "outcome": summary.outcome,
            "problem": cut(summary.problem, 1000),
            "woken by": "; ".join(summary.triggers),
            "Composition": summary.composition,
            "revision": summary.revision,
        }

    return difference_rows(facts_of(left), facts_of(right))


def _inputs(left: Run, right: Run) -> list[DifferenceGroup]:
    groups = [object_group("the composite resource", left.composite, right.composite)]
    groups += [
        object_group(f"observed {name}", left.observed.get(name), right.observed.get(name))
        for name in sorted({*left.observed, *right.observed})
    ]
    told = (_without_bookkeeping(group) for group in groups if group is not None)
    return [group for group in told if group.rows]


def _without_bookkeeping(group: DifferenceGroup) -> DifferenceGroup:
    """Without what changes with every write."""
    rows = tuple(row for row in group.rows if not row.path.startswith(_UNTOLD))
    return group._replace(rows=rows)


def _steps(left: Run, right: Run) -> list[StepComparison]:
    ours, theirs = ({(step.name, step.pipeline): step for step in run.steps} for run in (left, right))
    return [_step(key[0], ours.get(key), theirs.get(key)) for key in {**ours, **theirs}]


def _step(name: str, left: StepRun | None, right: StepRun | None) -> StepComparison:
    if left is None or right is None:
        sameness = ONLY_RIGHT if left is None else ONLY_LEFT
        return StepComparison(cut(name, 80), sameness, left, right, (), ())
    groups = desired_groups(left.desired_after, right.desired_after)
    facts = _step_facts(left, right)
    sameness = DIFFERENT if groups or facts else SAME
    return StepComparison(cut(name, 80), sameness, left, right, tuple(groups), tuple(facts))


def _step_facts(left: StepRun, right: StepRun) -> list[str]:
    facts = []
    if (left.function, left.function_revision) != (right.function, right.function_revision):
        names = [cut(step.function_revision or step.function, 120) for step in (left, right)]
        facts.append(f"function {names[0]} became {names[1]}")
    if left.problem != right.problem:
        facts.append(f"failed: {cut(right.problem or left.problem, 300)}")
    if len(left.rounds) != len(right.rounds):
        facts.append(f"{len(left.rounds)} rounds became {len(right.rounds)}")
    if left.results != right.results:
        facts.append("it reported other results")
    return facts


def _effects(left: Run, right: Run) -> list[tuple[str, str, str]]:
    ours, theirs = (
        {(effect.verb, effect_object(effect)): None for effect in run.effects if effect.verb != EVENT}
        for run in (left, right)
    )
    rows = []
    for verb, obj in {**ours, **theirs}:
        where = "both" if (verb, obj) in ours and (verb, obj) in theirs else ""
        rows.append((verb, obj, where or (ONLY_LEFT if (verb, obj) in ours else ONLY_RIGHT)))
    return rows
