"""What woke a composite resource: noted where it is enqueued, and recorded with the run that follows."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.object_metadata import (
    annotations_of,
    finalizers_of,
    is_being_deleted,
    uid_of,
)
from crossply.control.composites.composite_writes import FINALIZER
from crossply.runs.capture import generation_of
from crossply.values import Object

CHANGED = "composite resource changed"
FUNCTION_CHANGED = "function of the pipeline changed"
STARTED = "control plane started"
DEFINITION_CHANGED = "definition changed"
"""The reason after a restart of the kind's controller, which reconciles all objects."""
_MOST = 8
"""The maximum number of recorded reasons of a run."""
_REQUESTED = "crossplane.io/reconcile-requested-at"

Key = tuple[str, str]


class _LastRun(NamedTuple):
    """What is known of the run before."""

    uid: str
    generation: int
    request: str
    is_going: bool
    failed: bool = False


class Triggers:
    """The reasons to reconcile, of all composite resources of a kind."""

    def __init__(self, started: str = STARTED) -> None:
        self._started = started
        """Why the controller of the kind was started."""
        self._noted: dict[Key, dict[str, None]] = {}
        self._last: dict[Key, _LastRun] = {}

    def note(self, key: Key, reason: str) -> None:
        """One is enqueued for this reason."""
        reasons = self._noted.get(key)
        if reasons is None:
            reasons = self._noted[key] = {}
        if len(reasons) < _MOST:
            reasons[reason] = None

    def take(self, key: Key, xr: Object) -> tuple[str, ...]:
        """Why a run begins now: all that was noted since the last one began."""
        noted, last = self._noted.pop(key, {}), self._last.get(key)
        now = _LastRun(
            uid_of(xr),
            generation_of(xr),
            annotations_of(xr).get(_REQUESTED, ""),
            is_being_deleted(xr),
        )
        self._last[key] = now
        if last is None or last.uid != now.uid:
            known = FINALIZER in finalizers_of(xr)
            return (self._started if known else "created",)
        own = _own_changes(last, now)
        if own or CHANGED not in noted:
            noted.pop(CHANGED, None)
        reasons = (*own, *noted)
        return reasons or (("retry after a failure",) if last.failed else ("poll",))

    def run_finished(self, key: Key, generation: int, problem: BaseException | None) -> None:
        """The run is over, and left the composite resource at this generation."""
        last = self._last.get(key)
        failed = problem is not None
        if last is not None and (last.generation != generation or last.failed != failed):
            self._last[key] = last._replace(generation=generation, failed=failed)

    def forget(self, key: Key) -> None:
        """It is gone."""
        self._noted.pop(key, None)
        self._last.pop(key, None)


def _own_changes(last: _LastRun, now: _LastRun) -> list[str]:
    reasons = []
    if now.is_going and not last.is_going:
        reasons.append("deleted")
    elif now.generation != last.generation:
        reasons.append(f"edited (generation {now.generation})")
    if now.request != last.request:
        reasons.append("requested by annotation")
    return reasons
