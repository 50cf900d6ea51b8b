"""The data directory of a store: private to its user, and open in one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator

from crossply.apiserver.storage.errors import StorageDamaged, StorageFailed, StorageInUse, WouldOverwrite

DATABASE = "crossply.db"
RESTORING = "restoring-"
"""The prefix of directories in which a restore works."""
_LOCK = "lock"
_OWNER_BYTES = 32


def prepare(path: str) -> None:
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StorageFailed(f"the data directory {path} cannot be made: {error}") from error


def has_database(path: str) -> bool:
    """Whether a store was created here before."""
    database = os.path.join(path, DATABASE)
    if os.path.exists(database):
        return True
    if os.path.exists(f"{database}-wal"):
        raise StorageDamaged(f"{database} is missing, but its write-ahead log is there")
    if os.path.exists(f"{database}-mark"):
        raise StorageDamaged(f"{database} is missing, but the mark of its newest write is there")
    try:
        names = os.listdir(path)
    except OSError as error:
        raise StorageFailed(f"the data directory {path} cannot be read: {error}") from error
    if any(name.startswith(RESTORING) for name in names):
        raise StorageDamaged(
            f"{path} holds no database: a restore into it was not finished",
            hint="empty the directory and restore the backup again",
        )
    return False


def sync_directory(path: str) -> None:
    """Make directory entries durable."""
    descriptor = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def new_file(path: str) -> Iterator[str]:
    """The path of an empty private file, which becomes the file `path` at the end; raises WouldOverwrite.

    The file is new, so nobody else has it open or owns it, even where others can write to the directory.
    """
    directory = os.path.dirname(path) or "."
    descriptor, partial = tempfile.mkstemp(
        prefix=f".{os.path.basename(path)}-", suffix=".partial", dir=directory
    )
    os.close(descriptor)
    try:
        yield partial
        try:
            # A link, unlike a rename, never replaces an existing file.
            os.link(partial, path)
        except FileExistsError:
            raise WouldOverwrite(f"{path} exists already") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
    sync_directory(directory)


class DirectoryLock:
    """A lock against other processes. The system releases it however the process ends."""

    __slots__ = ("_descriptor",)

    def __init__(self, path: str) -> None:
        try:
            self._descriptor = os.open(
                os.path.join(path, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
        except OSError as error:
            raise StorageFailed(f"the data directory cannot be locked: {error}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.read(self._descriptor, _OWNER_BYTES).decode(errors="replace").strip()
            os.close(self._descriptor)
            raise StorageInUse(
                f"{path} is in use by another process{f' ({owner})' if owner else ''}"
            ) from error
        # The pid is only for the message above: a full disk must not prevent opening a store.
        with contextlib.suppress(OSError):
            # In place, without truncating the file first: that works on a full disk too.
            os.pwrite(self._descriptor, f"process {os.getpid()}\n".ljust(_OWNER_BYTES).encode(), 0)

    def release(self) -> None:
        """Release the lock. Linux closes the file, and with it the lock, even when it reports an error."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
