"""A control plane at work, on the embedded API server and on kube-apiserver with etcd: the same workload.

Composite resources of three ConfigMaps each are made at once; then nothing happens for a while; then one of
them is edited again and again. Beside it stands the floor: the unavoidable writes, by a bare client.
The embedded control plane is measured with and without the recorder of runs; `recorder.py` repeats that.
BENCH_XRS sets how many (200,1000), BENCH_REST how many seconds of rest (180).
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
import urllib.request
from collections import Counter
from contextlib import aclosing

import orjson

from control_floor import floor
from control_servers import Running, embedded, real, real_is_possible, without_recorder
from control_workload import (
    APP,
    COMPOSITION,
    CONFIG_MAP,
    DEFINITION,
    FUNCTION,
    NAMESPACE,
    app,
    composition,
    definition,
    function,
    name,
)
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.failures import NotServed
from crossply.kube.watch import watch_objects
from crossply.record.prometheus_text_parser import parse, sum_by
from processes import Used, used

SIZES = tuple(int(size) for size in os.environ.get("BENCH_XRS", "200,1000").split(","))
REST = int(os.environ.get("BENCH_REST", "180"))
WORKERS = 64
CHANGES = 40
EDITS = 100
_NOT_COUNTED = ("WATCH", "CONNECT")

Requests = Counter[tuple[str, str]]


async def main() -> None:
    with_real = real_is_possible()
    for plane in (embedded, without_recorder, real) if with_real else (embedded, without_recorder):
        for size in SIZES:
            with plane() as running:
                await measure(running, size)
    if not with_real:
        print(
            "kube-apiserver is not built here (tests/cluster/build.sh): only the embedded server was measured"
        )


async def measure(running: Running, size: int) -> None:
    async with Client(load_config(running.kubeconfig)) as client:
        print(f"-- {running.name}, {size} composite resources of 3 ConfigMaps", flush=True)
        least, least_cpu = await floor(client, size)
        print(f"floor: {least:.1f} s, {least_cpu:.1f} CPU-s in the bare client")
        await install(client)
        await creation(client, running, size, least)
        if running.records:
            await rest(client, running, size)
        await changes(client, size)
        await edits(client)


async def install(client: Client) -> None:
    await client.apply(FUNCTION, function(), "bench")
    await client.apply(DEFINITION, definition(), "bench")
    await client.apply(COMPOSITION, composition(), "bench")
    while True:
        try:
            await client.list(APP, NAMESPACE)
            break
        except NotServed:
            await asyncio.sleep(0.1)
    await asyncio.sleep(2)


async def creation(client: Client, running: Running, size: int, least: float) -> None:
    before, spent, start = await requests(client), usage(running), time.perf_counter()
    ready = asyncio.create_task(until_ready(client, size))
    await create_all(client, size)
    elapsed = time.perf_counter() - start
    await ready
    took = time.perf_counter() - start
    await asyncio.sleep(5)
    sent = await requests(client) - before
    # The bench's own: it creates each and reads the counts.
    own_requests = sent.total() - size - 1
    print(f"all Synced and Ready: {took:.1f} s, {took / least:.2f} x the floor (created in {elapsed:.1f} s)")
    print(f"requests of the controllers: {own_requests / size:.2f} for each: {describe(sent)}")
    for process, then in spent.items():
        now = usage(running)[process]
        print(f"  {process}: {now.cpu - then.cpu:.1f} CPU-s, {now.rss:.0f} MiB")


async def create_all(client: Client, size: int) -> None:
    numbers = iter(range(size))

    async def worker() -> None:
        for number in numbers:
            await client.create(APP, app(number))

    await asyncio.gather(*(worker() for _ in range(WORKERS)))


async def until_ready(client: Client, size: int) -> None:
    ready: set[str] = set()
    async with aclosing(watch_objects(client, APP, namespace=NAMESPACE)) as events:
        async for change in events:
            if is_ready(change.obj):
                ready.add(change.obj["metadata"]["name"])
            if len(ready) == size:
                return


def is_ready(obj: dict) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return {condition["type"] for condition in conditions if condition["status"] == "True"} >= {
        "Ready",
        "Synced",
    }


async def rest(client: Client, running: Running, size: int) -> None:
    before, spent, own = await requests(client), usage(running), sent_by(running)
    await asyncio.sleep(REST)
    sent, after, own = await requests(client) - before, usage(running), sent_by(running) - own
    sent[("GET", "")] -= 1  # the question itself
    total = sum(count for (verb, resource), count in sent.items() if resource != "leases" and resource != "")
    print(f"settled for {REST} s: {total} requests, {describe(sent) or 'none'}")
    print(f"  our controllers sent, Leases included: {dict(own) or 'none'}; the others are the cluster's own")
    for process, then in spent.items():
        print(f"  {process}: {(after[process].cpu - then.cpu) * 60 / REST:.2f} CPU-s a minute")


async def changes(client: Client, size: int) -> None:
    """From an edit to its first and its last ConfigMap."""
    before = await requests(client)
    first, last = [], []
    observed: asyncio.Queue[str] = asyncio.Queue()
    watching = asyncio.create_task(report(client, observed))
    await observed.get()
    for number in range(CHANGES):
        expected_size = f"v{number}"
        start = time.perf_counter()
        patch = {"spec": {"size": expected_size}}
        await client.patch_merge(APP, name(number % size), patch, NAMESPACE, "bench")
        latencies: list[float] = []
        while len(latencies) < 3:
            if await observed.get() == expected_size:
                latencies.append((time.perf_counter() - start) * 1000)
        first.append(latencies[0])
        last.append(latencies[-1])
        await asyncio.sleep(0.1)
    watching.cancel()
    await asyncio.sleep(2)
    sent = await requests(client) - before
    writes = sum(count for (verb, _), count in sent.items() if verb not in ("GET", "LIST")) - CHANGES
    print(
        f"a change reaches the first ConfigMap in {statistics.median(first):.0f} ms, all three in "
        f"{statistics.median(last):.0f} ms (medians of {CHANGES}), with {writes / CHANGES:.1f} writes"
    )


async def report(client: Client, observed: asyncio.Queue[str]) -> None:
    """Print the size of every changed ConfigMap, after one line when it is ready."""
    async with aclosing(watch_objects(client, CONFIG_MAP, namespace=NAMESPACE)) as events:
        async for change in events:
            if change.type == "SYNCED":
                observed.put_nowait("listening")
            elif change.type == "MODIFIED":
                observed.put_nowait((change.obj.get("data") or {}).get("size", ""))


async def edits(client: Client) -> None:
    """Many edits of one composite resource: how long after the last one it is in place."""
    for number in range(EDITS):
        await client.patch_merge(APP, name(0), {"spec": {"size": f"edit-{number}"}}, NAMESPACE, "bench")
        await asyncio.sleep(0.1)
    start = time.perf_counter()
    owned = f"crossplane.io/composite={name(0)}"
    while time.perf_counter() - start < 120:
        items = (await client.list(CONFIG_MAP, NAMESPACE, label_selector=owned)).items
        if all(orjson.loads(item)["data"]["size"] == f"edit-{EDITS - 1}" for item in items):
            print(
                f"{EDITS} edits at 10 a second: the last in place after {time.perf_counter() - start:.2f} s"
            )
            return
        await asyncio.sleep(0.02)
    print(f"{EDITS} edits at 10 a second: the last NOT in place after two minutes")


async def requests(client: Client) -> Requests:
    """How many requests the API server has answered, by verb and resource."""
    reply = await client.request("GET", "/metrics", accept="text/plain")
    counts: Requests = Counter()
    for (metric, labels), count in parse(reply.data.decode()).items():
        values = dict(labels)
        if metric == "apiserver_request_total" and values["verb"] not in _NOT_COUNTED:
            place = "/".join(filter(None, (values["resource"], values.get("subresource"))))
            counts[(values["verb"], place)] += int(count)
    return counts


def sent_by(running: Running) -> Counter[str]:
    """How many requests our controllers have sent, watches included, by method."""
    with urllib.request.urlopen(running.metrics) as reply:
        page = reply.read().decode()
    sent = sum_by(parse(page), "rest_client_requests_total", "method")
    return Counter({method: int(count) for method, count in sent.items()})


def usage(running: Running) -> dict[str, Used]:
    return {process: used(pid) for process, pid in running.processes.items()}


def describe(counts: Requests) -> str:
    return ", ".join(f"{verb} {place} {count}" for (verb, place), count in counts.most_common() if place)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
