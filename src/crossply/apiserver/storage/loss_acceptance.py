"""Continues with what is left after acknowledged writes were lost.

The objects stay as the database has them. A new lineage starts above every assigned revision, so no client
sees resourceVersions go back; clients with watches list again.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

from crossply.apiserver.storage.backup import new_lineage, revision_above
from crossply.apiserver.storage.data_directory import DATABASE, DirectoryLock, has_database
from crossply.apiserver.storage.database import open_database, read_database, start_lineage, wal_path
from crossply.apiserver.storage.errors import StorageError, StorageFailed, WritesLost
from crossply.apiserver.storage.high_water_mark import mark_path, read_mark
from crossply.apiserver.storage.value_codec import OPAQUE


class AcceptedLoss(NamedTuple):
    revision: int
    """The revision at which the store continues."""
    left: int
    """The newest revision that is left."""
    copy: str
    """The directory with a copy of the original files."""


def accept_loss(directory: str, clock: Callable[[], float] = time.time) -> AcceptedLoss | None:
    """Make the store in a directory usable again; None if nothing was missing. Raises StorageDamaged."""
    if not os.path.isdir(directory) or not has_database(directory):
        raise StorageFailed(f"there is no database in {directory}")
    lock = DirectoryLock(directory)
    try:
        database = os.path.join(directory, DATABASE)
        return _accept(database, clock) if _is_lost(database) else None
    finally:
        lock.release()


def _is_lost(database: str) -> bool:
    try:
        # Values are copied without decoding: encrypted objects need no key here.
        journal, _ = open_database(database, OPAQUE)
    except WritesLost:
        return True
    journal.close()
    return False


def _accept(database: str, clock: Callable[[], float]) -> AcceptedLoss:
    copy = _copy(database)
    try:
        left = read_database(database, OPAQUE).revision
    except StorageError:
        shutil.rmtree(copy)
        raise
    revision = revision_above(max(left, _acknowledged(database)), clock)
    start_lineage(database, new_lineage(), revision)
    return AcceptedLoss(revision, left, copy)


def _copy(database: str) -> str:
    """Copy the original files, for a later analysis."""
    try:
        directory = tempfile.mkdtemp(prefix="before-loss-", dir=os.path.dirname(database))
        for path in (database, wal_path(database), mark_path(database)):
            if os.path.exists(path):
                shutil.copy2(path, directory)
    except OSError as error:
        raise StorageFailed(f"the files cannot be copied before they are changed: {error}") from error
    return directory


def _acknowledged(database: str) -> int:
    try:
        mark = read_mark(mark_path(database))
    except WritesLost:
        return 0
    return mark.revision if mark else 0
