"""What a reconcile says in events: little, since each costs a write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crossply.compose.conditions import read_conditions
from crossply.compose.errors import IncompatibleComposition, SelectionError
from crossply.compose.events import COMPOSE, NORMAL, SELECT, WARNING, Event, StatusCondition
from crossply.compose.verdict import Verdict, conclude_failure, failed
from crossply.control.composites.connection_secrets import PUBLISH, PublishFailed
from crossply.errors import CrossplyError
from crossply.kube.failures import KubeError
from crossply.values import Object

MOST_EVENTS = 100
"""How many events one run may tell; a function that floods us must not hold up everybody else."""
MOST_CONDITIONS = 100
"""How many conditions a composite resource may have."""

UNSTABLE = "cannot compose resources: some resources were invalid, check events"
"""The condition after the API server found something invalid, as it may say that otherwise each time."""


def bounded(events: Iterable[Event]) -> list[Event]:
    """As many events as a run may tell, and how many there were beyond that."""
    events = list(events)
    if len(events) <= MOST_EVENTS:
        return events
    rest = f"{len(events) - MOST_EVENTS} more events of the same run are not told"
    return [*events[:MOST_EVENTS], Event(WARNING, COMPOSE, rest)]


def admitted(conditions: Iterable[StatusCondition], status: Object) -> list[StatusCondition]:
    """The functions' conditions that the composite resource has already, or still has room for."""
    types = {each["type"] for each in read_conditions(status)}
    kept = []
    for condition in conditions:
        if condition.type in types or len(types) < MOST_CONDITIONS:
            types.add(condition.type)
            kept.append(condition)
    return kept


def selections(selected: Sequence[str]) -> list[Event]:
    """One event for what was selected; most often a Composition and its revision are selected at once."""
    return [Event(NORMAL, SELECT, "; ".join(selected))] if selected else []


def joined(events: Iterable[Event]) -> list[Event]:
    """One event for all resources that are not valid, and one for all that are not ready."""
    said: dict[str, list[str]] = {}
    for event in events:
        said.setdefault(event.message.rpartition(" ")[2], []).append(event.message)
    return [Event(NORMAL, COMPOSE, "; ".join(messages)) for messages in said.values()]


def failure(problem: CrossplyError, reported: Iterable[StatusCondition], status: Object) -> Verdict:
    """How a reconcile ends that did not go through."""
    if isinstance(problem, SelectionError | IncompatibleComposition):
        reason = SELECT if "select Composition" in str(problem) else COMPOSE
        return Verdict((Event(WARNING, reason, str(problem)),), (failed(str(problem)),))
    if isinstance(problem, PublishFailed):
        return Verdict((Event(WARNING, PUBLISH, str(problem)),), (failed(str(problem)),))
    shown = UNSTABLE if _is_invalid(problem) else ""
    return conclude_failure(str(problem), reported, read_conditions(status), shown)


def _is_invalid(problem: CrossplyError) -> bool:
    return isinstance(problem.__cause__, KubeError) and problem.__cause__.status == 422
