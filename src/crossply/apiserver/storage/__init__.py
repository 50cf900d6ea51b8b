"""Storage: one SQLite database, one ever-growing revision, and the recent history behind watches.

`store` is the room's face. A write goes `store` → `group_commit` (the writer thread) → `journal` (`database`,
or nothing in memory) and comes back as an event into `heads` (what is), `history` (what happened) and
`subscribers` (who wants to know). `loading` reads it all back at a start, `lost_writes` checks that
nothing acknowledged is missing then, `backup` makes copies to restore.
"""

from __future__ import annotations

from crossply.apiserver.storage.accepted_loss import AcceptedLoss, accept_loss
from crossply.apiserver.storage.backup import restore
from crossply.apiserver.storage.entries import Entry, Event, EventType, Key, sort_key
from crossply.apiserver.storage.errors import (
    Changed,
    Compacted,
    Exists,
    NewerDatabase,
    StorageClosed,
    StorageDamaged,
    StorageError,
    StorageFailed,
    StorageFull,
    StorageInUse,
    WouldOverwrite,
    WritesLost,
)
from crossply.apiserver.storage.history import HistoryLimits
from crossply.apiserver.storage.store import Store

__all__ = [
    "AcceptedLoss",
    "Changed",
    "Compacted",
    "Entry",
    "Event",
    "EventType",
    "Exists",
    "HistoryLimits",
    "Key",
    "NewerDatabase",
    "StorageClosed",
    "StorageDamaged",
    "StorageError",
    "StorageFailed",
    "StorageFull",
    "StorageInUse",
    "Store",
    "WouldOverwrite",
    "WritesLost",
    "accept_loss",
    "restore",
    "sort_key",
]
