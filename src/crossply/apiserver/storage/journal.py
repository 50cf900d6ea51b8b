"""Where changes are made durable. The writer thread is its only user, once it is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from crossply.apiserver.storage.entries import Event


class Journal(Protocol):
    """The durable side of the store."""

    @property
    def is_full(self) -> bool:
        """Whether only what may use the reserve is written."""

    def commit(self, events: Sequence[Event]) -> None:
        """Make events durable, all of them or (with an exception) none."""

    def commit_from_reserve(self, events: Sequence[Event]) -> None:
        """As `commit`, also on a full disk. Last states of deleted objects may be left out."""

    def purge(self, revisions: Sequence[int], compacted: int) -> None:
        """Forget superseded rows; from now on, history begins after `compacted`."""

    def tidy(self) -> None:
        """Do housekeeping that nobody waits for, if some is due."""

    def close(self) -> None:
        """Leave everything in order for the next start."""

    def abandon(self) -> None:
        """Let go of everything as it is, after an error that nobody expected."""


class MemoryJournal:
    """The journal of a store that keeps nothing: it lives as long as the process."""

    is_full = False

    def commit(self, events: Sequence[Event]) -> None:
        """Nothing is kept."""

    def commit_from_reserve(self, events: Sequence[Event]) -> None:
        """Nothing is kept."""

    def purge(self, revisions: Sequence[int], compacted: int) -> None:
        """Nothing was kept."""

    def tidy(self) -> None:
        """There is nothing to do."""

    def close(self) -> None:
        """There is nothing to close."""

    def abandon(self) -> None:
        """There is nothing to let go of."""
