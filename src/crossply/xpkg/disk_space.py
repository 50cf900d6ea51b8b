"""Room on the disk that images are pulled to: often the one that the API server writes its data to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from crossply.xpkg.failures import NoDiskSpace

_RESERVED_BYTES = 256 << 20
_RESERVED_PART = 20
_MIB = 1 << 20


def check_space(directory: str, size: int) -> None:
    """Raise NoDiskSpace where so many bytes would leave less than 256 MiB, or 5 % of a small disk."""
    filesystem = os.statvfs(directory)
    free, total = filesystem.f_bavail * filesystem.f_frsize, filesystem.f_blocks * filesystem.f_frsize
    reserved = min(_RESERVED_BYTES, total // _RESERVED_PART)
    if size > free - reserved:
        raise NoDiskSpace(
            f"{-(-size // _MIB)} MiB are to be pulled, and of {free // _MIB} MiB of free disk space "
            f"{reserved // _MIB} MiB are reserved"
        )


@contextlib.contextmanager
def explained_disk_errors(activity: str) -> Iterator[None]:
    """Raise NoDiskSpace for what the operating system refuses, so that a condition can say why."""
    try:
        yield
    except OSError as problem:
        raise NoDiskSpace(f"cannot {activity}: {(problem.strerror or str(problem)).lower()}") from None
