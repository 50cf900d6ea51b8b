"""Backups: a snapshot in a file, and a store restored from it.

A restored store must never assign a revision twice: the original store may be far ahead of the backup, and
the same backup may be restored more than once. So it continues at the number of microseconds since 1970,
which no store reaches unless it makes more than a million writes a second. If the clock is wrong, it
continues at least a thousand million above the backup. All older revisions count as compacted, so clients
with watches list again.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable

from crossply.apiserver.storage.data_directory import DATABASE, RESTORING, prepare
from crossply.apiserver.storage.database import create_database, read_backup
from crossply.apiserver.storage.entries import Entry
from crossply.apiserver.storage.errors import StorageFailed, WouldOverwrite
from crossply.apiserver.storage.log_loading import State
from crossply.apiserver.storage.value_codec import PLAIN, ValueCodec

_LEAST_JUMP = 1_000_000_000


def new_lineage() -> str:
    """The name of a history of revisions: every new and every restored store has a new one."""
    return str(uuid.uuid4())


def write_backup(
    path: str, lineage: str, revision: int, entries: Iterable[Entry], codec: ValueCodec = PLAIN
) -> None:
    """Write a snapshot into a new file, completely or not at all."""
    create_database(os.path.abspath(path), lineage, revision, by_revision(entries), codec)


def restore(
    backup: str, directory: str, clock: Callable[[], float] = time.time, codec: ValueCodec = PLAIN
) -> int:
    """Restore a backup into an empty directory; returns the first revision of the store.

    The codec reads the backup, so that a wrong key is detected now, and writes the store.
    """
    if not os.path.isfile(backup):
        raise StorageFailed(f"there is no backup {backup}")
    if os.path.isdir(directory) and os.listdir(directory):
        raise WouldOverwrite(f"{directory} is not empty")
    if os.path.exists(f"{backup}-wal"):
        raise StorageFailed(f"{backup} is not a backup: it is a database in use, or a bare copy of one")
    prepare(directory)
    # The private directory is removed last: while it exists without a database, the restore is unfinished.
    try:
        with tempfile.TemporaryDirectory(prefix=RESTORING, dir=directory) as private:
            state = _read(backup, private, codec)
            revision = revision_above(state.revision, clock)
            entries = by_revision(state.entries.values())
            create_database(os.path.join(directory, DATABASE), new_lineage(), revision, entries, codec)
    except OSError as error:
        raise StorageFailed(f"the backup cannot be restored: {error}") from error
    return revision


def revision_above(revision: int, clock: Callable[[], float]) -> int:
    """The first revision of a new lineage, above every revision of the one before."""
    return max(int(clock() * 1_000_000), revision + _LEAST_JUMP)


def by_revision(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.revision)


def _read(backup: str, private: str, codec: ValueCodec) -> State:
    """Check and read a copy of a backup; an older schema is migrated on the way."""
    try:
        return read_backup(shutil.copyfile(backup, os.path.join(private, DATABASE)), codec)
    except OSError as error:
        raise StorageFailed(f"the backup cannot be read: {error}") from error
