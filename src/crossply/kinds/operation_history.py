"""The Operations of a CronOperation or a WatchOperation: which run, and which to garbage collect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from crossply.kinds.fields import Fields
from crossply.values import Object
from crossply.values.timestamps import parse_timestamp

SUCCESSFUL_LIMIT = 3
"""The default number of successful Operations to keep."""
FAILED_LIMIT = 1
"""The default number of failed Operations to keep."""

_NEVER = datetime.min.replace(tzinfo=UTC)
_RUNNING, _SUCCESS = "PipelineRunning", "PipelineSuccess"


class Child(NamedTuple):
    """One Operation: when it was made, and how far it is by its condition Succeeded."""

    name: str
    created: datetime | None = None
    succeeded: str = "Unknown"
    """True, False or Unknown."""
    reason: str = ""
    changed: datetime | None = None

    @property
    def is_running(self) -> bool:
        """Whether its pipeline runs; a pending Operation does not."""
        return self.reason == _RUNNING


def read_child(operation: Object) -> Child:
    """What counts of an Operation."""
    root = Fields(operation)
    metadata = root.object("metadata")
    name, created = metadata.text("name"), parse_timestamp(metadata.text("creationTimestamp"))
    for condition in root.object("status").objects("conditions"):
        if condition.text("type") == "Succeeded":
            changed = parse_timestamp(condition.text("lastTransitionTime"))
            return Child(name, created, condition.text("status"), condition.text("reason"), changed)
    return Child(name, created)


def latest(moments: Iterable[datetime | None]) -> datetime | None:
    """The last of the times that there are."""
    return max((time for time in moments if time is not None), default=None)


def last_created(children: Sequence[Child]) -> datetime | None:
    """When the newest was made."""
    return latest(child.created for child in children)


def last_successful(children: Sequence[Child]) -> datetime | None:
    """When the last Operation succeeded."""
    return latest(child.changed for child in children if child.reason == _SUCCESS)


def running(children: Sequence[Child]) -> tuple[str, ...]:
    """The names of those that run, sorted."""
    return tuple(sorted(child.name for child in children if child.is_running))


def beyond_limits(children: Sequence[Child], successful: int, failed: int) -> tuple[str, ...]:
    """The names of finished ones that are more than the limits allow, oldest last; the newest are kept."""
    newest_first = sorted(children, key=lambda child: (child.created or _NEVER, child.name), reverse=True)
    succeeded = [child.name for child in newest_first if child.succeeded == "True"]
    failures = [child.name for child in newest_first if child.succeeded == "False"]
    return (*succeeded[max(successful, 0) :], *failures[max(failed, 0) :])
