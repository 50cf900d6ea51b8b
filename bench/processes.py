"""What processes have used: CPU seconds, and memory now."""

from __future__ import annotations

import os
import pathlib
from typing import NamedTuple

_TICK = os.sysconf("SC_CLK_TCK")


class Used(NamedTuple):
    """The use of one process."""

    cpu: float
    """Seconds of user and system time."""
    rss: float
    """MiB."""


def used(pid: int) -> Used:
    """What a process used until now."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Used((int(fields[11]) + int(fields[12])) / _TICK, pages * os.sysconf("SC_PAGE_SIZE") / 2**20)


def children_of(pid: int) -> list[int]:
    """The processes that a process started."""
    threads = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
