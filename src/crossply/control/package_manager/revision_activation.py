"""Which revisions of a package are active, which number the current one has, and which one goes.

Of a Function several may be active at once, so that a new revision can be tried by a few composite resources
first. Everything here is pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MANUAL = "Manual"


class ExistingRevision(NamedTuple):
    """What matters of a revision that exists."""

    name: str
    number: int
    active: bool
    healthy: bool = True


class Rules(NamedTuple):
    """What a package says about its revisions."""

    automatic: bool = True
    active_limit: int = 1
    history_limit: int = 1
    """0 to keep all."""
    rolls_out: bool = False
    """Whether more than the current one may be active."""


class Decision(NamedTuple):
    """What becomes of the revisions of a package."""

    number: int
    """The number of the current one."""
    active: bool
    """Whether the current one is active."""
    activate: tuple[str, ...] = ()
    deactivate: tuple[str, ...] = ()
    collect: str = ""
    """The one that is to be deleted."""


def decide(standing: Sequence[ExistingRevision], current: str, rules: Rules) -> Decision:
    """Decide about the revisions that exist; the current one may be new."""
    before = next((each for each in standing if each.name == current), None)
    others = [each for each in standing if each.name != current]
    decision = Decision(_number(before, standing), rules.automatic or (before is not None and before.active))
    wanted = _wanted(before, others, rules)
    if wanted is not None:
        decision = decision._replace(
            activate=tuple(each.name for each in others if each.name in wanted and not each.active),
            deactivate=tuple(each.name for each in others if each.active and each.name not in wanted),
        )
    kept = {each.name for each in others if each.active} if wanted is None else wanted
    return decision._replace(collect=_oldest(standing, [o for o in others if o.name not in kept], rules))


def _number(before: ExistingRevision | None, standing: Sequence[ExistingRevision]) -> int:
    """The current one always has the highest: one that is wanted again gets a new number."""
    highest = max((each.number for each in standing), default=0)
    return before.number if before is not None and 0 < before.number == highest else highest + 1


def _wanted(
    before: ExistingRevision | None, others: Sequence[ExistingRevision], rules: Rules
) -> set[str] | None:
    """Which others are to be active; None where that is the user's choice."""
    if not rules.rolls_out:
        return set()
    if not rules.automatic:
        return None
    newest_first = sorted(others, key=lambda each: each.number, reverse=True)
    wanted = newest_first[: rules.active_limit - 1]
    if not any(each is not None and each.active and each.healthy for each in (before, *wanted)):
        # Until one of the new ones is ready, the last one that was goes on serving.
        wanted += [each for each in newest_first if each.active and each.healthy][:1]
    return {each.name for each in wanted}


def _oldest(
    standing: Sequence[ExistingRevision], expendable: Sequence[ExistingRevision], rules: Rules
) -> str:
    """The revision beyond the history, one at a time; never one that is in use."""
    if rules.history_limit == 0 or len(standing) <= rules.history_limit + 1 or not expendable:
        return ""
    return min(expendable, key=lambda each: each.number).name
