"""Journals make changes durable. Once open, only the writer thread uses one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from crossply.apiserver.storage.entries import Event


class Journal(Protocol):
    @property
    def is_full(self) -> bool:
        """Whether only writes that may use the reserve are accepted."""

    def commit(self, events: Sequence[Event]) -> None:
        """Make events durable: all of them or (with an exception) none."""

    def commit_from_reserve(self, events: Sequence[Event]) -> None:
        """As `commit`, also on a full disk. Last states of deleted objects may be left out."""

    def purge(self, revisions: Sequence[int], compacted: int) -> None:
        """Remove superseded rows; history then starts after `compacted`."""

    def tidy(self) -> None:
        """Do pending housekeeping."""

    def close(self) -> None:
        """Close cleanly."""

    def abandon(self) -> None:
        """Close without writing, after an unexpected error."""


class MemoryJournal:
    """The journal of a store in memory, which keeps nothing."""

    is_full = False

    def commit(self, events: Sequence[Event]) -> None: ...

    def commit_from_reserve(self, events: Sequence[Event]) -> None: ...

    def purge(self, revisions: Sequence[int], compacted: int) -> None: ...

    def tidy(self) -> None: ...

    def close(self) -> None: ...

    def abandon(self) -> None: ...
