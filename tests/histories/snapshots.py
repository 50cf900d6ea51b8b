"""A list, in one piece or in pages, is the state of all keys at its resourceVersion."""

from __future__ import annotations

from collections.abc import Sequence

from tests.histories.history import Operation, Outcome, Version, Violation
from tests.histories.versions import VersionOrder


def check_snapshots(order: VersionOrder, operations: Sequence[Operation]) -> int:
    """How many lists were compared; raises Violation at the first that is no snapshot."""
    compared = 0
    for operation in operations:
        if operation.snapshot is not None and operation.outcome is Outcome.OK:
            _check(order, operation)
            compared += 1
    return compared


def _check(order: VersionOrder, operation: Operation) -> None:
    assert operation.snapshot is not None
    rv, listed = operation.snapshot
    index = order.index_at(rv)
    expected = {
        state.key: state for state in (order.state(key, index) for key in order.keys) if state is not None
    }
    if len({version.key for version in listed}) != len(listed):
        raise Violation("list-consistent", f"a {operation.verb} at {rv} shows an object twice", listed)
    shown = {version.key: version for version in listed}
    for key in sorted(expected.keys() | shown.keys()):
        if expected.get(key) != shown.get(key):
            piece: list[Version | Operation | None] = [expected.get(key), shown.get(key)]
            message = f"a {operation.verb} at {rv} shows the second for {key}, but the first was there"
            raise Violation("list-consistent", message, [*piece, operation._replace(snapshot=None)])
