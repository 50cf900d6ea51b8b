"""The waterfall of a run: each step, and each write, as a bar on the time of the whole run."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.layout import columns
from crossply.cli.framework.styling import Style
from crossply.cli.runs.duration_text import duration_text
from crossply.runs.model import EVENT, EffectRun, Run, StepRun

WIDTH = 40
"""How many characters the time of the whole run has."""
_FULL, _SHORT = "█", "│"


def waterfall(run: Run, style: Style) -> list[str]:
    """A line for each step: name, function, bar, duration, rounds; then one for what was written."""
    end = duration_text(run.summary.seconds)
    rows = [["STEP", "FUNCTION", "0" + end.rjust(WIDTH - 1), ""]]
    rows += _rows(run, style)
    return columns(rows, gap=2)


def _rows(run: Run, style: Style) -> Iterator[list[str]]:
    whole, pipeline = run.summary.seconds, 1
    for step in run.steps:
        if step.pipeline != pipeline:
            pipeline = step.pipeline
            yield [style.dim("once more, to observe what was created")]
        paint = style.bad if step.problem else style.accent
        drawn = paint(bar(step.offset, step.seconds, whole))
        yield [harmless(step.name), harmless(step.function), drawn, _remarks(step)]
    written = [effect for effect in run.effects if effect.verb != EVENT and effect.seconds > 0]
    if written:
        first, last = min(map(_start, written)), max(map(_end, written))
        drawn = style.good(bar(first, last - first, whole))
        yield [style.dim("(writes)"), "", drawn, duration_text(last - first)]


def bar(offset: float, seconds: float, whole: float, width: int = WIDTH) -> str:
    """A bar that begins and ends where the step did; a step that is too short for one has a mark."""
    if whole <= 0:
        return _SHORT
    first = min(int(offset / whole * width), width - 1)
    last = min(round((offset + seconds) / whole * width), width)
    return " " * first + (_FULL * (last - first) if last > first else _SHORT)


def _start(effect: EffectRun) -> float:
    return effect.offset


def _end(effect: EffectRun) -> float:
    return effect.offset + effect.seconds


def _remarks(step: StepRun) -> str:
    remarks = [duration_text(step.seconds)]
    if len(step.rounds) > 1:
        remarks.append(f"{len(step.rounds)} rounds")
    cached = sum(1 for round_ in step.rounds if round_.cached)
    if cached:
        remarks.append("cached" if cached == len(step.rounds) else f"{cached} cached")
    if step.problem:
        remarks.append("failed")
    return ", ".join(remarks)
