"""What differs between two runs, or between a run and its replay, as text; and how a replay went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.cli.runs.field_lines import field_lines, indented
from crossply.cli.runs.run_table import subject_text
from crossply.runs.effect_differences import EffectDifference
from crossply.runs.model import APPLIED, DELETE, EVENT, PUBLISHED, SAVED, STATUS, Run
from crossply.runs.replay import Replayed
from crossply.runs.run_differences import PartDifference, RunDifferences
from crossply.values.differences import MISSING

_COMPOSITE = {SAVED: "composite resource", PUBLISHED: "of the composite resource"}
"""What effects on the composite resource itself are on, where their verb does not say."""

_NOUNS = {
    APPLIED: ("resource applied", "resources applied"),
    DELETE: ("resource deleted", "resources deleted"),
    SAVED: ("write of the XR", "writes of the XR"),
    STATUS: ("status", "statuses"),
    EVENT: ("event", "events"),
}


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


def replay_lines(
    run: Run, replayed: Replayed, differences: Sequence[EffectDifference], style: Style
) -> Iterator[str]:
    """What a replay showed."""
    yield f"{style.bold('Replayed run ' + run.summary.id)}  {harmless(subject_text(run.summary.subject))}"
    if not differences:
        yield style.good(f"✓ the same effects: {_counts(replayed)}")
    else:
        count = f"{len(differences)} effects differ" if len(differences) != 1 else "1 effect differs"
        yield style.bad(f"✗ {count} from then (- then, + now)")
        yield from indented(effect_difference_lines(differences, style), 1)
    if replayed.problem is not None:
        outcome = "also fails" if run.summary.problem else "fails"
        yield style.bad(f"! the replay {outcome}: {harmless(str(replayed.problem))}")
        if replayed.problem.hint:
            yield f"  try: {harmless(replayed.problem.hint)}"
    elif run.summary.problem and not run.world.interruption:
        yield style.good(f"✓ the run failed then, and does not now: {harmless(run.summary.problem)}")
    for note in dict.fromkeys(replayed.notes):
        yield style.dim(f"note: {harmless(note)}")


def _counts(replayed: Replayed) -> str:
    counts = Counter(effect.verb for effect in replayed.effects)
    nouns = {verb: _NOUNS.get(verb, (verb, verb))[count > 1] for verb, count in counts.items()}
    return ", ".join(f"{count} {nouns[verb]}" for verb, count in counts.items()) or "none"
