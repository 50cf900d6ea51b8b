"""The memory of the processes over a run: shown always, and checked where no fault ends a process."""

from __future__ import annotations

from tests.histories.history import Violation
from tests.histories.plane import resident_mib

_GROWTH = 1.1
_WARM_UP_SECONDS = 300.0


class MemoryLog:
    """The most that each process had while it warmed up, and after that."""

    def __init__(self, seconds: float) -> None:
        self._warm_up = min(_WARM_UP_SECONDS, seconds / 3)
        self._first: dict[str, float] = {}
        self._later: dict[str, float] = {}
        self._processes: set[tuple[str, int]] = set()

    def measure(self, elapsed: float, processes: dict[str, int]) -> None:
        """Note what the processes have now."""
        phase = self._first if elapsed < self._warm_up else self._later
        for name, pid in processes.items():
            self._processes.add((name, pid))
            phase[name] = max(phase.get(name, 0.0), resident_mib(pid))

    def __str__(self) -> str:
        return ", ".join(
            f"{name} {self._first.get(name, 0):.0f} MiB, later {mib:.0f} MiB"
            for name, mib in self._later.items()
        )

    def check_flat(self) -> None:
        """Memory stays flat; restarted processes do not count."""
        if len(self._processes) > len(self._later):
            return
        for name, mib in self._later.items():
            if mib > self._first.get(name, mib) * _GROWTH:
                raise Violation("memory", f"memory grew: {self}", [name])
