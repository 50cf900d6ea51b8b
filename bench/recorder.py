"""What recording runs costs the controllers: the creation of `control.py` with and without it, in turns.

The figure is CPU seconds of the controllers, which the load of the machine moves least. Each round
starts both control planes anew. BENCH_XRS sets the number of composite resources (500), BENCH_ROUNDS that of
rounds (5).
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys

from control import create_all, install, until_ready, usage
from control_servers import embedded
from control_workload import APP, NAMESPACE, name
from crossply.kube.client import Client
from crossply.kube.config import load_config

SIZE = int(os.environ.get("BENCH_XRS", "500"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))


async def main() -> None:
    spent: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(ROUNDS):
        for records in (False, True) if turn % 2 else (True, False):
            with embedded(records) as running:
                seconds = await measure(running)
            spent[records].append(seconds)
            print(f"{'with' if records else 'without'} the recorder: {seconds:.2f} CPU-s", flush=True)
    without, with_ = (statistics.median(spent[records]) for records in (False, True))
    print(f"medians of {ROUNDS}: {without:.2f} and {with_:.2f} CPU-s: {(with_ / without - 1) * 100:+.1f} %")


async def measure(running) -> float:  # type: ignore[no-untyped-def]
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
