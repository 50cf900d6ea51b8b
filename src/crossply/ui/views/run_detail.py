"""What a click on a step or an effect of a run shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crossply.provenance import source_wording
from crossply.provenance.model import Provenance
from crossply.runs.model import EffectRun, Run, StepRun
from crossply.ui.views.field_differences import (
    ADDED,
    CHANGED,
    COMPOSITE,
    REMOVED,
    DifferenceGroup,
    DifferenceRow,
    desired_groups,
    object_group,
)
from crossply.ui.views.run_waterfall import effect_object
from crossply.ui.views.short_text import block, changed_lines, cut, one_line
from crossply.values import Object
from crossply.values.differences import MISSING

_MAX_ROUNDS = 20


class RoundView(NamedTuple):
    """One call of the function."""

    number: int
    seconds: float
    cached: bool
    problem: str
    request: str
    response: str
    requirements: str
    required: str


class StepView(NamedTuple):
    """One step, ready to be shown."""

    number: int
    step: StepRun
    groups: tuple[DifferenceGroup, ...]
    """What the step changed in desired state, by resource."""
    context: DifferenceGroup | None
    rounds: tuple[RoundView, ...]
    results: tuple[tuple[str, str], ...]
    """Severity and message."""
    conditions: tuple[str, ...]


class EffectView(NamedTuple):
    """One effect, ready to be shown."""

    number: int
    effect: EffectRun
    object: str
    rows: tuple[DifferenceRow, ...]


def step_view(run: Run, index: int, provenance: Provenance | None = None) -> StepView | None:
    """A step by its place in the run, or None. `provenance` has the sources of fields."""
    if not 0 <= index < len(run.steps):
        return None
    step = run.steps[index]
    return StepView(
        index,
        step,
        tuple(
            _with_sources(group, step, provenance)
            for group in desired_groups(step.desired_before, step.desired_after)
        ),
        object_group("context", step.context_before or {}, step.context_after or {}),
        tuple(_rounds(step)),
        tuple(_results(step.results)),
        tuple(one_line(condition, 300) for condition in step.conditions[:20]),
    )


def _with_sources(group: DifferenceGroup, step: StepRun, provenance: Provenance | None) -> DifferenceGroup:
    """The group with where each value comes from that this step set last."""
    if provenance is None:
        return group
    resource = "" if group.name == COMPOSITE else group.name
    rows = []
    for row in group.rows:
        source = provenance.of(resource, row.path)
        if source is not None and source.step == step.name and row.change != REMOVED:
            row = row._replace(source=cut(source_wording.one_line(source)))
        rows.append(row)
    return group._replace(rows=tuple(rows))


def effect_view(run: Run, index: int) -> EffectView | None:
    """An effect by its place in the run; None where there is no such effect."""
    if not 0 <= index < len(run.effects):
        return None
    effect = run.effects[index]
    rows = tuple(
        DifferenceRow(
            ADDED if change.old is None else REMOVED if change.new is None else CHANGED,
            cut(change.path, 300),
            *changed_lines(
                MISSING if change.old is None else change.old,
                MISSING if change.new is None else change.new,
                300,
            ),
        )
        for change in effect.changes[:200]
    )
    return EffectView(index, effect, effect_object(effect), rows)


def _rounds(step: StepRun) -> Iterable[RoundView]:
    for number, round_ in enumerate(step.rounds[:_MAX_ROUNDS], 1):
        yield RoundView(
            number,
            round_.seconds,
            round_.cached,
            cut(round_.problem, 2000),
            block(round_.request),
            block(round_.response) if round_.response else "",
            block(round_.requirements) if round_.requirements else "",
            block(round_.required) if round_.required else "",
        )


def _results(results: Iterable[Object]) -> Iterable[tuple[str, str]]:
    for result in list(results)[:50]:
        severity = str(result.get("severity") or "").removeprefix("SEVERITY_").lower()
        yield severity or "unspecified", cut(str(result.get("message") or ""), 1000)
