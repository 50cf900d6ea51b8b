"""Storage errors."""

from __future__ import annotations

from crossply.apiserver.storage.entries import Entry, Key
from crossply.errors import CrossplyError


class StorageError(CrossplyError):
    """The store could not do what was asked."""

    code = "CP-610"


class Exists(StorageError):
    """An object to create already exists."""

    code = "CP-611"

    def __init__(self, key: Key, current: Entry) -> None:
        super().__init__(f"{'/'.join(key)} exists already")
        self.current = current


class Changed(StorageError):
    """An object is not at the expected revision any more, or is gone (`current` is None)."""

    code = "CP-612"

    def __init__(self, key: Key, expected: int, current: Entry | None) -> None:
        now = f"at revision {current.revision}" if current else "gone"
        super().__init__(f"{'/'.join(key)} is not at revision {expected}: it is {now}")
        self.current = current


class Compacted(StorageError):
    """The requested history is no longer kept."""

    code = "CP-613"

    def __init__(self, revision: int, compacted: int) -> None:
        super().__init__(f"history before revision {compacted} is no longer kept; {revision} was asked for")
        self.revision = revision
        self.compacted = compacted


class StorageFull(StorageError):
    """A write failed because the disk is full. Nothing of it was stored; reads still work."""

    code = "CP-614"
    hint = "make space on the disk that holds the data directory; writes then succeed again by themselves"


class StorageFailed(StorageError):
    """A write could not be made durable. Nothing of it is visible; reads still work."""

    code = "CP-615"
    hint = "look at the disk that holds the data directory (kernel log, file system, permissions)"


class StorageClosed(StorageError):
    """A write came after the store was closed."""

    code = "CP-616"


class StorageDamaged(StorageError):
    """The database is damaged, so it is not served."""

    code = "CP-617"
    hint = "restore the newest backup into an empty directory and start from there"


class NewerDatabase(StorageError):
    """The database was written by a newer version. It has not been touched."""

    code = "CP-618"
    hint = "start the version that wrote it, or a newer one"


class StorageInUse(StorageError):
    """Another process has the store open."""

    code = "CP-619"
    hint = "stop the other process, or give this one a data directory of its own"


class WouldOverwrite(StorageError):
    """A backup or restore would replace what is there."""

    code = "CP-620"
    hint = "name a backup file that does not exist yet, or an empty directory to restore into"


class WritesLost(StorageError):
    """Acknowledged writes are missing: the write-ahead log or the mark beside it was lost or damaged.

    Nothing has been changed. The server refuses to start, because clients would see older objects and
    resource versions that go back.
    """

    code = "CP-621"
    hint = (
        "put the missing files back, or restore the newest backup into an empty directory "
        "(crossply apiserver restore), or go on with what is left (crossply apiserver accept-loss)"
    )


class EncryptionKeyMissing(StorageError):
    """Stored objects are encrypted with a key that was not given. Nothing has been changed."""

    code = "CP-622"
    hint = (
        "give the key that encrypted them, after the one that is to encrypt from now on: a further line "
        "of the key file, or a further key of the encryption configuration"
    )


class EncryptionKeyWrong(StorageError):
    """A stored object cannot be decrypted with the key of that name. Nothing has been changed."""

    code = "CP-623"
    hint = "give the key that encrypted it; if that is the given one, restore the newest backup"


class PlainValueRefused(StorageError):
    """An object is stored in plain text, and its providers lack `identity`. Nothing has been changed."""

    code = "CP-624"
    hint = "add the provider identity, as the last one, until all objects are encrypted"


class EncryptionUnusable(StorageError):
    """An encryption key or an EncryptionConfiguration cannot be used."""

    code = "CP-625"
