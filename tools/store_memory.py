"""Take memory away from a store while it works: from SQLite alone, or from the whole process."""

from __future__ import annotations

import random
import resource
from collections.abc import Callable
from typing import Any, NamedTuple

import apsw
from store_scenario import play

Report = Callable[..., None]


class Shortage(NamedTuple):
    """Memory is short from one report to another, the numbers of which are `first` and `last`."""

    of_process: bool
    first: int
    last: int
    left: int
    """How many bytes more than are in use may be used."""

    def begin(self) -> None:
        if self.of_process:
            limit = _address_space() + self.left
            resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        else:
            apsw.hard_heap_limit(max(apsw.memory_used() + self.left, 1))

    def end(self) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        apsw.hard_heap_limit(0)


def choose_shortage(chance: random.Random) -> Shortage:
    of_process = chance.random() < 0.3
    # A thread that gets no memory for its first step leaves Python waiting for it, so the store opens first.
    first = chance.choice([1 if of_process else 0, chance.randrange(1, 70)])
    left = chance.randrange(0, 1 << 18, 4096) if of_process else chance.randrange(0, 120_000, 100)
    return Shortage(of_process, first, first + chance.choice([1, 5, 20, 200]), left)


async def play_short_of_memory(directory: str, report: Report, shortage: Shortage) -> None:
    """Play while memory is short for a part of the time."""
    reports = 0

    def counted(*message: Any) -> None:
        nonlocal reports
        report(*message)
        reports += 1
        if reports == shortage.first:
            shortage.begin()
        elif reports == shortage.last or message[0] == "closed":
            shortage.end()  # at the latest before the next store is opened, see `choose_shortage`

    if shortage.first == 0:
        shortage.begin()
    await play(directory, counted)


def _address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
