"""Storage: one SQLite database, one ever-growing revision, and the recent history behind watches.

`store` is the room's face. A write goes `store` → `group_commit` (the writer thread) → `journal` (`database`,
or nothing in memory) and comes back as an event into `heads` (what is), `history` (what happened) and
`subscribers` (who wants to know). Between objects and rows stands a `value_codec`, which may be `encryption`;
`reencryption` rewrites a store whose keys have changed. `loading` reads it all back at a start, `lost_writes`
checks that nothing acknowledged is missing then, `backup` makes copies to restore.
"""

from __future__ import annotations

from crossply.apiserver.storage.backup import restore
from crossply.apiserver.storage.encryption import Encryption, EncryptionKey, Providers, ResourceGroup
from crossply.apiserver.storage.entries import Entry, Event, EventType, Key, sort_key
from crossply.apiserver.storage.errors import (
    Changed,
    Compacted,
    EncryptionUnusable,
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
from crossply.apiserver.storage.loss_acceptance import AcceptedLoss, accept_loss
from crossply.apiserver.storage.reencryption import Reencrypted, reencrypt
from crossply.apiserver.storage.store import Store
from crossply.apiserver.storage.value_codec import OPAQUE, PLAIN, ValueCodec

__all__ = [
    "OPAQUE",
    "PLAIN",
    "AcceptedLoss",
    "Changed",
    "Compacted",
    "Encryption",
    "EncryptionKey",
    "EncryptionUnusable",
    "Entry",
    "Event",
    "EventType",
    "Exists",
    "HistoryLimits",
    "Key",
    "NewerDatabase",
    "Providers",
    "Reencrypted",
    "ResourceGroup",
    "StorageClosed",
    "StorageDamaged",
    "StorageError",
    "StorageFailed",
    "StorageFull",
    "StorageInUse",
    "Store",
    "ValueCodec",
    "WouldOverwrite",
    "WritesLost",
    "accept_loss",
    "reencrypt",
    "restore",
    "sort_key",
]
