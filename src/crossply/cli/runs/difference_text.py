"""What differs between two runs, or between a run and its replay, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.cli.runs.field_lines import field_lines, indented
from crossply.runs.effect_differences import EffectDifference
from crossply.runs.model import DELETE, EVENT, PUBLISHED, SAVED
from crossply.runs.run_differences import PartDifference, RunDifferences
from crossply.values.differences import MISSING

_COMPOSITE = {SAVED: "composite resource", PUBLISHED: "of the composite resource"}
"""What effects on the composite resource itself are on, where their verb does not say."""


def difference_lines(differences: RunDifferences, style: Style) -> Iterator[str]:
    """Everything in which two runs differ, part by part."""
    for title, parts in (("Inputs", differences.inputs), ("Steps", differences.steps)):
        if parts:
            yield style.bold(title)
            yield from indented(_parts(parts, style), 1)
    if differences.effects:
        yield style.bold("Effects")
        yield from indented(effect_difference_lines(differences.effects, style), 1)
    if differences.outcome:
        yield style.bold("Outcome")
        yield from indented(field_lines(differences.outcome, style), 1)


def _parts(parts: Iterable[PartDifference], style: Style) -> Iterator[str]:
    for part in parts:
        yield style.sign("~", f"~ {harmless(part.part)}")
        yield from indented(field_lines(part.fields, style), 1)


def effect_difference_lines(effects: Iterable[EffectDifference], style: Style) -> Iterator[str]:
    """Effects that only one side has, and the fields of those that both have."""
    for effect in effects:
        sign = "+" if effect.before is MISSING else "-" if effect.after is MISSING else "~"
        description = f"{effect.verb} {effect.target or _COMPOSITE.get(effect.verb, '')}".rstrip()
        if effect.verb == EVENT:
            event = effect.after if sign == "+" else effect.before
            yield style.sign(sign, harmless(f"{sign} {description}: {event['message']}"))
            continue
        yield style.sign(sign, harmless(f"{sign} {description}"))
        if sign != "-" and effect.verb != DELETE:
            yield from indented(field_lines(effect.fields, style), 1)
