"""When files were last written, to detect edits by comparing."""

from __future__ import annotations

import os
from collections.abc import Iterable

FileTimes = dict[str, tuple[int, int, int]]
"""Modification time, size and inode by path."""


def read_file_times(paths: Iterable[str]) -> FileTimes:
    """The times of those files that exist: an editor may be in the middle of replacing one."""
    times: FileTimes = {}
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            continue
        times[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return times


def changed_file(before: FileTimes, after: FileTimes) -> str:
    """The first path that was changed, added or removed; empty where there is none."""
    paths = sorted({*before, *after})
    return next((path for path in paths if before.get(path) != after.get(path)), "")
