"""What recording runs costs the controllers: the creation of `control.py` with and without it, in turns.

The figures are CPU seconds of the controllers, and the part of them that the recorder reports, which the
load of the machine moves least. Each round restarts both control planes. BENCH_XRS sets the number of
composite resources (500), BENCH_ROUNDS that of rounds (5).
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import sys
import urllib.request

from control import create_all, install, until_ready, usage
from control_servers import Running, embedded
from control_workload import APP, NAMESPACE, name
from crossply.kube.client import Client
from crossply.kube.config import load_config

SIZE = int(os.environ.get("BENCH_XRS", "500"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))


async def main() -> None:
    spent: dict[bool, list[float]] = {False: [], True: []}
    shares: list[float] = []
    for turn in range(ROUNDS):
        for records in (False, True) if turn % 2 else (True, False):
            with embedded(records) as running:
                seconds = await measure(running)
                recorded = cpu_of_recorder(running)
            spent[records].append(seconds)
            if records:
                shares.append(recorded / seconds)
            own = f", {recorded:.3f} of them its own" if records else ""
            print(f"{'with' if records else 'without'} the recorder: {seconds:.2f} CPU-s{own}", flush=True)
    without, with_ = (statistics.median(spent[records]) for records in (False, True))
    print(f"medians of {ROUNDS}: {without:.2f} and {with_:.2f} CPU-s: {(with_ / without - 1) * 100:+.1f} %")
    print(f"the recorder's own part: {statistics.median(shares) * 100:.1f} %")


def cpu_of_recorder(running: Running) -> float:
    """The CPU seconds of the recorder, by the controllers' metrics."""
    with urllib.request.urlopen(running.metrics) as reply:
        page = reply.read().decode()
    return sum(map(float, re.findall(r"^crossply_runs_cpu_seconds_total\{.*\} (\S+)$", page, re.MULTILINE)))


async def measure(running: Running) -> float:
    async with Client(load_config(running.kubeconfig)) as client:
        await install(client)
        before = usage(running)["controllers"].cpu
        ready = asyncio.create_task(until_ready(client, SIZE))
        await create_all(client, SIZE)
        await ready
        for number in range(SIZE):
            await client.patch_merge(APP, name(number), {"spec": {"size": "large"}}, NAMESPACE, "bench")
        await asyncio.sleep(5)
        return usage(running)["controllers"].cpu - before


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
