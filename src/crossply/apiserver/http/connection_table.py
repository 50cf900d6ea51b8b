"""Open connections by owner, and which to close when there are too many.

A connection belongs to its peer's address until a request on it is authenticated, then to that user. The
owner with the most connections loses one first, so nobody can displace others by opening many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from crossply.apiserver.http.flow_control import EXEMPT, WORKLOAD, Flow

C = TypeVar("C")


def stranger(peer: str) -> Flow:
    """The owner of connections without an authenticated request. No user name starts with a space."""
    return Flow(f" {peer}", WORKLOAD)


class ConnectionTable(Generic[C]):
    """Connections of each owner, least recently used first."""

    def __init__(self) -> None:
        self._owners: dict[C, Flow] = {}
        self._owned: dict[Flow, dict[C, None]] = {}

    def __len__(self) -> int:
        return len(self._owners)

    def __iter__(self) -> Iterator[C]:
        return iter(self._owners)

    def __contains__(self, connection: C) -> bool:
        return connection in self._owners

    def put(self, connection: C, owner: Flow) -> None:
        """Make it the most recently used one of its owner."""
        previous = self._owners.get(connection)
        if previous == owner:
            owned = self._owned[owner]
            del owned[connection]
            owned[connection] = None
            return
        if previous is not None:
            self._leave(connection, previous)
        self._owners[connection] = owner
        self._owned.setdefault(owner, {})[connection] = None

    def discard(self, connection: C) -> None:
        owner = self._owners.pop(connection, None)
        if owner is not None:
            self._leave(connection, owner)

    def to_evict(self) -> Iterator[C]:
        """All connections in eviction order; administrators' come last."""
        owners = sorted(self._owned, key=lambda owner: (owner.level is EXEMPT, -len(self._owned[owner])))
        for owner in owners:
            yield from self._owned[owner]

    def _leave(self, connection: C, owner: Flow) -> None:
        owned = self._owned[owner]
        del owned[connection]
        if not owned:
            del self._owned[owner]
