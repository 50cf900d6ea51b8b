"""Storage: one SQLite database, one increasing revision, and the recent history behind watches.

`store` is the interface. A write passes `store` → `group_commit` (the writer thread) → `journal`
(`sqlite_journal`, or none in memory) and returns as an event to `object_index` (current objects), `history`
(recent events) and `subscribers`. A `value_codec`, such as `encryption`, converts between objects and rows;
`reencryption` rewrites a store whose keys have changed. `log_loading` reads the database at startup,
`lost_write_detection` checks that no acknowledged write is missing, `backup` makes copies to restore.
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
