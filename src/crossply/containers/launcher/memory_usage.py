"""How much memory a container uses, where no control group counts it."""

from __future__ import annotations

import os

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(first: int) -> int:
    """Bytes that the processes in the namespace of a container's first process hold for themselves."""
    namespace = _namespace(first)
    if not namespace:
        return 0
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return sum(_own(pid) for pid in pids if _namespace(pid) == namespace)


def _namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def _own(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            fields = file.read().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE if len(fields) > 2 else 0
