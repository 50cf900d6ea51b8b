"""What recording runs costs: creation as in `control.py`, and an edit of each, with and without it, in turns.

The figures are the time until all are Ready, CPU seconds of the controllers and of the whole control plane,
and the part of the controllers' that the recorder reports. The load of the machine moves the last least, but
it leaves out what capturing costs while a run is under way. Each round restarts both control planes.
BENCH_XRS sets the number of composite resources (500), BENCH_ROUNDS that of rounds (5).
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import sys
import time
import urllib.request
from typing import NamedTuple

from control import create_all, install, until_ready, usage
from control_servers import Running, embedded
from control_workload import APP, NAMESPACE, name
from crossply.kube.client import Client
from crossply.kube.config import load_config

SIZE = int(os.environ.get("BENCH_XRS", "500"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))


class Cost(NamedTuple):
    """What one round took."""

    until_ready: float
    controllers: float
    control_plane: float


async def main() -> None:
    costs: dict[bool, list[Cost]] = {False: [], True: []}
    shares: list[float] = []
    for turn in range(ROUNDS):
        for records in (False, True) if turn % 2 else (True, False):
            with embedded(records) as running:
                cost = await measure(running)
                recorded = cpu_of_recorder(running)
            costs[records].append(cost)
            if records:
                shares.append(recorded / cost.controllers)
            own = f" ({recorded:.3f} of them its own)" if records else ""
            print(
                f"{'with' if records else 'without'} the recorder: all Ready in {cost.until_ready:.2f} s, "
                f"{cost.controllers:.2f} CPU-s in the controllers{own}, {cost.control_plane:.2f} in all",
                flush=True,
            )
    for figure in Cost._fields:
        without, with_ = ([getattr(cost, figure) for cost in costs[records]] for records in (False, True))
        report(figure.replace("_", " "), without, with_)
    print(f"the recorder's own part of the controllers: {statistics.median(shares) * 100:.1f} %")


def report(name: str, without: list[float], with_: list[float]) -> None:
    """Print the medians of both, and the least."""
    middle, least = [[choose(values) for values in (without, with_)] for choose in (statistics.median, min)]
    print(
        f"{name}: medians {middle[0]:.2f} and {middle[1]:.2f} ({(middle[1] / middle[0] - 1) * 100:+.1f} %), "
        f"least {least[0]:.2f} and {least[1]:.2f} ({(least[1] / least[0] - 1) * 100:+.1f} %)"
    )


def cpu_of_recorder(running: Running) -> float:
    """The CPU seconds of the recorder, by the controllers' metrics."""
    with urllib.request.urlopen(running.metrics) as reply:
        page = reply.read().decode()
    return sum(map(float, re.findall(r"^crossply_runs_cpu_seconds_total\{.*\} (\S+)$", page, re.MULTILINE)))


async def measure(running: Running) -> Cost:
    async with Client(load_config(running.kubeconfig)) as client:
        await install(client)
        before, start = usage(running), time.perf_counter()
        ready = asyncio.create_task(until_ready(client, SIZE))
        await create_all(client, SIZE)
        await ready
        took = time.perf_counter() - start
        for number in range(SIZE):
            await client.patch_merge(APP, name(number), {"spec": {"size": "large"}}, NAMESPACE, "bench")
        await asyncio.sleep(5)
        spent = {process: now.cpu - before[process].cpu for process, now in usage(running).items()}
        return Cost(took, spent["controllers"], sum(spent.values()))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
