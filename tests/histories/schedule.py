"""Which fault happens when: a pure function of the seed."""

from __future__ import annotations

import random
from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What can go wrong."""

    KILL_UP = "kill -9 up"
    KILL_API = "kill -9 API server"
    KILL_BOTH = "kill -9 both"
    RESTART = "SIGTERM up"
    FREEZE_UP = "freeze up"
    FREEZE_API = "freeze API server"
    CLOCK = "clock jump"
    DISK_FULL = "disk full"
    SLOW_DISK = "slow disk"


CLOCK_JUMPS = (-7200, -240, -5, 5, 240, 7200, 86_400)
"""Seconds. Certificates are issued five minutes into the past, so some jumps go beyond that."""
_LONGEST = {
    Kind.CLOCK: 12.0,
    Kind.DISK_FULL: 10.0,
    Kind.SLOW_DISK: 10.0,
    Kind.FREEZE_UP: 6.0,
    Kind.FREEZE_API: 6.0,
}
_PAUSES = (3.0, 13.0)
_QUIET_SECONDS = 3.0
"""At the beginning and at the end, without a new fault."""


class Fault(NamedTuple):
    """One fault; times are seconds from the start of the load."""

    at: float
    kind: Kind
    seconds: float = 0.0
    amount: float = 0.0
    """Seconds: of a clock jump, or that a sync takes longer."""

    def __str__(self) -> str:
        amount = f" by {self.amount:g} s" if self.amount else ""
        lasting = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.at:7.1f} s  {self.kind}{amount}{lasting}"


def make_schedule(seed: int, seconds: float, kinds: Collection[Kind]) -> tuple[Fault, ...]:
    """Faults in order of their time. Several at once are likely; one kind never overlaps with itself."""
    chance = random.Random(seed)
    available = [kind for kind in Kind if kind in kinds]
    faults: list[Fault] = []
    busy_until: dict[Kind, float] = {}
    now = _QUIET_SECONDS
    while available and now < seconds - _QUIET_SECONDS:
        for kind in chance.sample(available, min(len(available), chance.choice((1, 1, 2, 3)))):
            fault = _fault(chance, kind, now + chance.uniform(0.0, 2.0))
            if fault.at >= busy_until.get(kind, 0.0):
                faults.append(fault)
                busy_until[kind] = fault.at + fault.seconds + 0.5
        now += chance.uniform(*_PAUSES)
    return tuple(sorted(faults))


def _fault(chance: random.Random, kind: Kind, at: float) -> Fault:
    longest = _LONGEST.get(kind, 0.0)
    seconds = round(chance.uniform(0.5, longest), 1) if longest else 0.0
    amount = 0.0
    if kind is Kind.CLOCK:
        amount = chance.choice(CLOCK_JUMPS)
    elif kind is Kind.SLOW_DISK:
        amount = round(chance.uniform(0.01, 0.2), 2)
    return Fault(round(at, 1), kind, seconds, amount)
