"""The yardsticks: how fast this machine is today, measured in the same run as everything else."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable


def command_ms(command: list[str], rounds: int = 15, cwd: str | None = None) -> float:
    """The median wall time of a whole command, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def bare_python_ms(rounds: int = 15) -> float:
    """What starting and ending Python costs."""
    return command_ms([sys.executable, "-c", "pass"], rounds)


def per_second(work: Callable[[], object], seconds: float = 1.0) -> float:
    """How often the work gets done in a second, in the best of three spells."""
    best = 0.0
    for _ in range(3):
        done, start = 0, time.perf_counter()
        end = start + seconds / 3
        while time.perf_counter() < end:
            work()
            done += 1
        best = max(best, done / (time.perf_counter() - start))
    return best


def loop_per_second() -> float:
    """A yardstick of plain Python speed: how often a small dict can be built and summed."""

    def work() -> int:
        return sum({str(n): n for n in range(200)}.values())

    return per_second(work, 0.6)
