"""What the operating system knows about this process."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator

from crossply.record.prometheus import Family


def process_families() -> Iterator[Family]:
    """The usual process_* metrics; those that the system does not provide are left out."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = usage.ru_utime + usage.ru_stime
    yield _gauge("process_cpu_seconds_total", "CPU time spent in seconds.", cpu, "counter")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield _gauge("process_max_fds", "Open files that the system allows.", soft)
    try:
        yield _gauge("process_open_fds", "Open files.", len(os.listdir("/proc/self/fd")))
        virtual, resident = _memory()
        yield _gauge("process_resident_memory_bytes", "Memory in use in bytes.", resident)
        yield _gauge("process_virtual_memory_bytes", "Address space in use in bytes.", virtual)
        yield _gauge("process_start_time_seconds", "When the process started, in Unix time.", _start())
    except OSError:
        return


def _gauge(name: str, meaning: str, value: float, kind: str = "gauge") -> Family:
    return Family(name, kind, meaning, [({}, value)])


def _memory() -> tuple[int, int]:
    with open("/proc/self/statm", "rb") as file:
        pages = file.read().split()
    size = os.sysconf("SC_PAGE_SIZE")
    return int(pages[0]) * size, int(pages[1]) * size


def _start() -> float:
    with open("/proc/self/stat", "rb") as file:
        ticks = int(file.read().rpartition(b")")[2].split()[19])
    with open("/proc/stat", "rb") as file:
        booted = next(int(line.split()[1]) for line in file if line.startswith(b"btime"))
    return booted + ticks / os.sysconf("SC_CLK_TCK")
