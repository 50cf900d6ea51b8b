"""A run as a waterfall: a bar for each step and effect, placed in thousandths of the whole time."""

from __future__ import annotations

from typing import NamedTuple

from crossply.runs import model
from crossply.runs.model import EVENT, EffectRun, Run, StepRun
from crossply.ui.object_state_and_row import DELETING, FAILING, PAUSED, PRESENT, READY, WAITING
from crossply.ui.views.short_text import cut

WIDTH = 1000.0
_NARROWEST = 4.0
"""A bar that can still be seen."""
_STEPS = (1, 2, 5)
MAX_EFFECTS = 100

OK, BAD, CACHED = READY, FAILING, "cached"
_OUTCOMES = {
    model.COMPOSED: READY,
    model.FAILED: FAILING,
    model.PAUSED: PAUSED,
    model.DELETED: DELETING,
    model.INTERRUPTED: WAITING,
}


class Bar(NamedTuple):
    """A piece of time."""

    x: float
    width: float
    state: str


class WaterfallRow(NamedTuple):
    """One step, or one effect."""

    sort: str
    """step or effect."""
    number: int
    """Which of the run's steps it is; of an effect, which of its effects."""
    label: str
    detail: str
    seconds: float
    bars: tuple[Bar, ...]
    state: str
    notes: tuple[str, ...] = ()


class Tick(NamedTuple):
    """A line of the time axis."""

    x: float
    label: str


class Waterfall(NamedTuple):
    seconds: float
    rows: tuple[WaterfallRow, ...]
    ticks: tuple[Tick, ...]
    effects_left_out: int = 0


def waterfall(run: Run) -> Waterfall:
    """The waterfall of a run: steps and what was done to the cluster, in the order of time."""
    effects = [(index, effect) for index, effect in enumerate(run.effects) if effect.verb != EVENT]
    shown = effects[:MAX_EFFECTS]
    ends = [
        run.summary.seconds,
        *(step.offset + step.seconds for step in run.steps),
        *(effect.offset + effect.seconds for _, effect in shown),
    ]
    total = max(*ends, 1e-6)
    steps = [(step.offset, _step_row(index, step, total)) for index, step in enumerate(run.steps)]
    done = [(effect.offset, _effect_row(index, effect, total)) for index, effect in shown]
    rows = sorted([*steps, *done], key=lambda entry: entry[0])
    return Waterfall(total, tuple(row for _, row in rows), ticks(total), len(effects) - len(shown))


def ticks(total: float) -> tuple[Tick, ...]:
    """Between three and seven round moments of the time axis."""
    size = 1e-6
    while True:
        for factor in _STEPS:
            if total / (size * factor) <= 6:
                step = size * factor
                return tuple(
                    Tick(round(number * step / total * WIDTH, 2), duration(number * step))
                    for number in range(int(total / step + 1e-9) + 1)
                )
        size *= 10


def duration(seconds: float) -> str:
    """A duration as text: 830 µs, 12 ms, 3.4 s."""
    if seconds <= 0:
        return "0"
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms" if seconds < 0.1 else f"{seconds * 1e3:.0f} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def outcome_state(outcome: str) -> str:
    """The state, as `ui.object_state_and_row` names it, whose symbol and colour an outcome has."""
    return _OUTCOMES.get(outcome, PRESENT)


def _step_row(index: int, step: StepRun, total: float) -> WaterfallRow:
    rounds = step.rounds
    bars = tuple(
        _bar(round_.offset, round_.seconds, total, BAD if round_.problem else CACHED if round_.cached else OK)
        for round_ in rounds[:50]
    ) or (_bar(step.offset, step.seconds, total, BAD if step.problem else OK),)
    notes = []
    if len(rounds) > 1:
        notes.append(f"{len(rounds)} rounds")
    if rounds and all(round_.cached for round_ in rounds):
        notes.append("from cache")
    if step.pipeline > 1:
        notes.append("second pass")
    warnings = sum("WARNING" in str(result.get("severity")) for result in step.results)
    if warnings:
        notes.append(f"{warnings} warning{'s' if warnings > 1 else ''}")
    return WaterfallRow(
        "step",
        index,
        cut(step.name, 80),
        cut(step.function_revision or step.function, 120),
        step.seconds,
        bars,
        BAD if step.problem else OK,
        tuple(notes),
    )


def _effect_row(index: int, effect: EffectRun, total: float) -> WaterfallRow:
    state = BAD if effect.refused else OK
    changed = len(effect.changes)
    notes = ["refused"] if effect.refused else []
    if changed:
        notes.append(f"{changed} field{'s' if changed > 1 else ''}")
    return WaterfallRow(
        "effect",
        index,
        cut(effect.verb, 80),
        effect_object(effect),
        effect.seconds,
        (_bar(effect.offset, effect.seconds, total, state),),
        state,
        tuple(notes),
    )


def effect_object(effect: EffectRun) -> str:
    """What an effect was about, as Kind/name."""
    ref = effect.ref
    named = f"{cut(ref.kind, 80)}/{cut(ref.name, 120)}" if ref.name else cut(ref.kind, 80)
    return f"{named} ({cut(ref.resource_name, 80)})" if ref.resource_name else named


def _bar(offset: float, seconds: float, total: float, state: str) -> Bar:
    width = max(min(seconds / total, 1.0) * WIDTH, _NARROWEST)
    x = min(max(offset / total, 0.0) * WIDTH, WIDTH - width)
    return Bar(round(x, 2), round(width, 2), state)
