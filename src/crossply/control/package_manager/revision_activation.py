"""Decides which revisions of a package are active, which number is current, and which one is deleted.

Several revisions of a Function may be active at once, so that a few composite resources can try a new one
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


def decide(existing: Sequence[ExistingRevision], current: str, rules: Rules) -> Decision:
    """Decide about the revisions that exist; the current one may be new."""
    before = next((revision for revision in existing if revision.name == current), None)
    others = [revision for revision in existing if revision.name != current]
    decision = Decision(_number(before, existing), rules.automatic or (before is not None and before.active))
    active = _desired_active(before, others, rules)
    if active is not None:
        decision = decision._replace(
            activate=tuple(
                revision.name for revision in others if revision.name in active and not revision.active
            ),
            deactivate=tuple(
                revision.name for revision in others if revision.active and revision.name not in active
            ),
        )
    in_use = {revision.name for revision in others if revision.active} if active is None else active
    return decision._replace(collect=_oldest(existing, [o for o in others if o.name not in in_use], rules))


def _number(before: ExistingRevision | None, existing: Sequence[ExistingRevision]) -> int:
    """The current one always has the highest: one that becomes current again gets a new number."""
    highest = max((revision.number for revision in existing), default=0)
    return before.number if before is not None and 0 < before.number == highest else highest + 1


def _desired_active(
    before: ExistingRevision | None, others: Sequence[ExistingRevision], rules: Rules
) -> set[str] | None:
    """Which others are to be active; None where that is the user's choice."""
    if not rules.rolls_out:
        return set()
    if not rules.automatic:
        return None
    newest_first = sorted(others, key=lambda revision: revision.number, reverse=True)
    active = newest_first[: rules.active_limit - 1]
    if not any(
        revision is not None and revision.active and revision.healthy for revision in (before, *active)
    ):
        # Until one of the new ones is ready, the last ready one continues to serve.
        active += [revision for revision in newest_first if revision.active and revision.healthy][:1]
    return {revision.name for revision in active}


def _oldest(
    existing: Sequence[ExistingRevision], expendable: Sequence[ExistingRevision], rules: Rules
) -> str:
    """The revision beyond the history, one at a time; never one that is in use."""
    if rules.history_limit == 0 or len(existing) <= rules.history_limit + 1 or not expendable:
        return ""
    return min(expendable, key=lambda revision: revision.number).name
