"""The part of a history that can be checked where the server dropped what every watcher still needed.

On a full disk the server drops the events of the past first, and watches that resume are told so (410). If it
restarts at that time, no watcher may have seen the last versions. What happened until then can be checked;
whatever an operation did after it cannot.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.histories.history import UNKNOWN_COMPLETION, Operation, Outcome, WatchSegment
from tests.histories.versions import order_versions
from tests.histories.watch_logs import covered_until


def checkable_part(
    operations: Sequence[Operation], segments: Sequence[WatchSegment]
) -> tuple[Sequence[Operation], Sequence[WatchSegment]]:
    """The operations and watches up to the first version that no watcher saw; all where there is none."""
    order = order_versions(operations, segments)
    reached = covered_until(order, segments)
    later = [operation.completed for operation in operations if _newest_seen(operation) > reached]
    if order.index_at(reached) == len(order.versions) or not later:
        return operations, segments
    end = min(later)
    cut = [_without_answer(operation, end) for operation in operations if operation.invoked < end]
    return cut, [segment for segment in segments if segment.start <= reached]


def _newest_seen(operation: Operation) -> int:
    if operation.outcome is not Outcome.OK:
        return 0
    listed = operation.snapshot.rv if operation.snapshot is not None else 0
    return max(listed, operation.version.rv if operation.version is not None else 0)


def _without_answer(operation: Operation, end: float) -> Operation:
    """The operation as it was known at a time: it may not have been answered yet."""
    if operation.completed < end:
        return operation
    return operation._replace(
        outcome=Outcome.UNKNOWN, completed=UNKNOWN_COMPLETION, version=None, uid="", snapshot=None
    )
