"""The result of a replay as text: the same effects, or exactly what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from crossply.cli.framework.failure_reports import harmless
from crossply.cli.framework.styling import Style
from crossply.cli.runs.difference_text import effect_difference_lines
from crossply.cli.runs.field_lines import indented
from crossply.cli.runs.run_table import subject_text
from crossply.runs.effect_differences import EffectDifference
from crossply.runs.model import APPLIED, DELETE, EVENT, SAVED, STATUS, Run
from crossply.runs.replay import Replayed

_NOUNS = {
    APPLIED: ("resource applied", "resources applied"),
    DELETE: ("resource deleted", "resources deleted"),
    SAVED: ("write of the XR", "writes of the XR"),
    STATUS: ("status", "statuses"),
    EVENT: ("event", "events"),
}


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
