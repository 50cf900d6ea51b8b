"""All checks of a recorded history, in the order that gives the clearest message first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.histories.continuity import match_writes
from tests.histories.dropped_history import checkable_part
from tests.histories.history import Operation, WatchSegment
from tests.histories.linearizability import check_linearizable
from tests.histories.snapshots import check_snapshots
from tests.histories.versions import order_versions
from tests.histories.watch_logs import check_watches


class Checked(NamedTuple):
    """What a history without a violation consisted of."""

    versions: int
    placed: int
    snapshots: int
    watch_events: int
    operations: int
    """How many could be checked."""


def check_history(
    operations: Sequence[Operation], segments: Sequence[WatchSegment], *, may_drop: bool = False
) -> Checked:
    """Check everything; raises Violation.

    Where the server `may_drop` what watchers still need, the history is checked until it does so.
    """
    if may_drop:
        operations, segments = checkable_part(operations, segments)
    order = order_versions(operations, segments)
    watch_events = check_watches(order, segments)
    transitions = match_writes(order, operations)
    snapshots = check_snapshots(order, operations)
    placed = check_linearizable(order, transitions, operations)
    return Checked(len(order.versions), placed, snapshots, watch_events, len(operations))
