"""The part of a history that can be checked where the server dropped events that every watcher still needed.

On a full disk the server drops the events of the past first, and watches that resume get 410. If it
restarts at that time, no watcher may have seen the last versions. The history can be checked
only until then.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.histories.history import UNKNOWN_COMPLETION, Operation, Outcome, WatchSegment


def checkable_part(
    operations: Sequence[Operation], segments: Sequence[WatchSegment]
) -> tuple[Sequence[Operation], Sequence[WatchSegment]]:
    """The operations and watches up to where every watcher lost its place; all where one of them did not."""
    reached = _covered_until(segments)
    if all(_newest_version(operation) <= reached for operation in operations):
        return operations, segments
    # The answers to deletions have no resourceVersion: none is believed after the last write that was seen.
    completions = (operation.completed for operation in operations if 0 < _written(operation) <= reached)
    end = max(completions, default=0.0)
    cut = [_without_answer(operation, end) for operation in operations if operation.invoked <= end]
    return cut, [segment for segment in segments if segment.start <= reached]


def _covered_until(segments: Sequence[WatchSegment]) -> int:
    """The resourceVersion up to which some watcher saw everything, also deletions that no answer shows."""
    first, *others = sorted(segments, key=lambda segment: segment.start)
    reached = first.end
    for segment in others:
        if segment.start > reached:
            break
        reached = max(reached, segment.end)
    return reached


def _newest_version(operation: Operation) -> int:
    if operation.outcome is not Outcome.OK:
        return 0
    listed = operation.snapshot.rv if operation.snapshot is not None else 0
    return max(listed, operation.version.rv if operation.version is not None else 0)


def _written(operation: Operation) -> int:
    return operation.version.rv if operation.token and operation.version is not None else 0


def _without_answer(operation: Operation, end: float) -> Operation:
    """The operation as it was known at a time: it may not have been answered yet."""
    if operation.completed <= end:
        return operation
    return operation._replace(
        outcome=Outcome.UNKNOWN, completed=UNKNOWN_COMPLETION, version=None, uid="", snapshot=None
    )
