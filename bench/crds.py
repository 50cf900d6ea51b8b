"""Thousands of CustomResourceDefinitions: the embedded API server beside kube-apiserver + etcd.

A family of definitions (`crd_family`) is created by several clients at once. Then it is measured what the
server costs and how soon it answers. Without the real programs (`tests/cluster/build.sh` makes them), or with
BENCH_REAL=0, only the embedded server is measured. BENCH_CRDS sets how many definitions are created (2,065);
BENCH_JSON names a file for the figures.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import aiohttp
import orjson

from apiserver import CROSSPLY, Client, Server, memory, rate
from crd_family import Family, definition, definitions, instance
from machine import bare_python_ms, loop_per_second
from processes import used

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
CRDS = int(os.environ.get("BENCH_CRDS", "2065"))
CLIENTS = 16
KINDS = 20
"""How many kinds get their first custom resource."""
CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


class Figures(dict[str, float]):
    """Figures by name, shown as soon as they are known."""

    def __setitem__(self, name: str, value: float) -> None:
        print(f"  {name:34}{value:12,.1f}", flush=True)
        super().__setitem__(name, value)


@dataclass
class Measured:
    """A server that can be started again with what it stores."""

    server: Server
    restart: Callable[[], Server]
    figures: dict[str, float] = field(default_factory=lambda: Figures())

    def note_memory(self, when: str) -> None:
        self.figures[f"RSS {when}, MB"] = memory(self.server.pids)


async def measure(measured: Measured) -> None:
    """Everything there is to measure of one server, in the order of a day of its life."""
    figures = measured.figures
    measured.note_memory("empty")
    families = list(definitions(CRDS))
    bodies = [orjson.dumps(family.body) for family in families]
    figures["definitions, MB"] = sum(map(len, bodies)) / 1e6
    client = Client(measured.server)
    try:
        figures["created and listed, s"], figures["CPU of the server, s"] = await created(
            client, measured.server, families, bodies
        )
        measured.note_memory("after creation")
        await discovery_figures(client, figures, families)
        measured.note_memory("after discovery")
        await openapi_figures(client, measured)
        await instance_figures(client, figures, families[:: max(1, CRDS // KINDS)][:KINDS])
        await check_established(client)
        measured.note_memory("at the end")
    finally:
        await client.close()


async def created(
    client: Client, server: Server, families: list[Family], bodies: list[bytes]
) -> tuple[float, float]:
    """How long until discovery lists every kind, and how much CPU time of the server it took."""
    start, cpu = time.perf_counter(), cpu_seconds(server)
    await rate(len(bodies), lambda n: client.call("POST", CRD_PATH, bodies[n]), CLIENTS)
    await until_listed(client, families)
    return time.perf_counter() - start, cpu_seconds(server) - cpu


def cpu_seconds(server: Server) -> float:
    return sum(used(pid).cpu for pid in server.pids)


async def until_listed(client: Client, families: list[Family]) -> None:
    plurals = {family.plural for family in families}
    while plurals - listed_kinds(await get(client, "/apis", AGGREGATED)):
        await asyncio.sleep(0.1)


def listed_kinds(body: bytes) -> set[str]:
    versions = [version for group in orjson.loads(body)["items"] for version in group["versions"]]
    return {resource["resource"] for version in versions for resource in version["resources"]}


async def get(client: Client, path: str, accept: str = "application/json") -> bytes:
    async with client.stream(path, headers={"Accept": accept}) as answer:
        data = await answer.read()
        if answer.status != 200:
            raise RuntimeError(f"GET {path}: {answer.status} {data[:300]!r}")
        return data


async def timed(work: Callable[[], Awaitable[object]], rounds: int = 1) -> float:
    """The median of some rounds, in milliseconds; not a number if the server does not answer."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        try:
            await work()
        except (aiohttp.ClientError, RuntimeError) as problem:
            print(f"  no answer after {time.perf_counter() - start:.0f} s: {problem!s:.120}", flush=True)
            return math.nan
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


async def discovery_figures(client: Client, figures: dict[str, float], families: list[Family]) -> None:
    figures["aggregated discovery, ms"] = await timed(lambda: get(client, "/apis", AGGREGATED), 9)
    extra = definition(CRDS + 12)
    await client.call("POST", CRD_PATH, orjson.dumps(extra.body))
    figures["  after a new kind, ms"] = await timed(lambda: get(client, "/apis", AGGREGATED))
    await until_listed(client, [extra])
    figures["legacy discovery, /apis, ms"] = await timed(lambda: get(client, "/apis"), 9)
    places = sorted({f"/apis/{family.group}/{name}" for family in families for name in family.versions})
    figures["  one version, ms"] = await timed(lambda: get(client, places[0]), 9)

    async def every_version() -> None:
        await rate(len(places), lambda n: get(client, places[n]), CLIENTS)

    figures[f"  all {len(places)} versions, ms"] = await timed(every_version)


async def openapi_figures(client: Client, measured: Measured) -> None:
    figures, index = measured.figures, b""

    async def read_index() -> None:
        nonlocal index
        index = await get(client, "/openapi/v3")

    figures["OpenAPI v3 index, ms"] = await timed(read_index)
    figures["  index again, ms"] = await timed(read_index, 3)
    urls = [entry["serverRelativeURL"] for entry in orjson.loads(index)["paths"].values()]

    async def read_all() -> None:
        await rate(len(urls), lambda n: get(client, urls[n]), 4)

    figures["  all documents, ms"] = await timed(read_all)
    measured.note_memory("after OpenAPI v3")
    figures["OpenAPI v2, protobuf, ms"] = await timed(lambda: get(client, "/openapi/v2", PROTOBUF))
    figures["  protobuf again, ms"] = await timed(lambda: get(client, "/openapi/v2", PROTOBUF))
    figures["OpenAPI v2, JSON, ms"] = await timed(lambda: get(client, "/openapi/v2"))
    measured.note_memory("after OpenAPI v2")


async def instance_figures(client: Client, figures: dict[str, float], families: list[Family]) -> None:
    """The time for the first object of a kind, whose schema the server has to compile, and for the second."""
    first, second = [], []
    for family in families:
        namespace = "/namespaces/default" if family.scope == "Namespaced" else ""
        place = f"/apis/{family.group}/{family.versions[-1]}{namespace}/{family.plural}"
        for times, name in ((first, "one"), (second, "two")):
            body = orjson.dumps(instance(family, name))
            start = time.perf_counter()
            await client.call("POST", place, body)
            times.append((time.perf_counter() - start) * 1000)
    figures["first object of a kind, ms"] = statistics.median(first)
    figures["  slowest, ms"] = max(first)
    figures["second object, ms"] = statistics.median(second)


async def check_established(client: Client) -> None:
    """Not measured: every definition is established."""
    position = ""
    while True:
        page = orjson.loads(await get(client, f"{CRD_PATH}?limit=200&continue={position}"))
        for crd in page["items"]:
            states = {one["type"]: one["status"] for one in crd["status"]["conditions"]}
            if states.get("Established") != "True":
                raise RuntimeError(f"{crd['metadata']['name']} is not established: {states}")
        position = page["metadata"].get("continue", "")
        if not position:
            return


async def measure_restart(measured: Measured) -> None:
    """From the start of the process until /readyz, and until discovery lists every kind."""
    measured.server = measured.restart()
    start = time.perf_counter()
    measured.figures["restart until ready, s"] = measured.server.ready_seconds
    client = Client(measured.server)
    try:
        await get(client, "/readyz", "*/*")
        await until_listed(client, [definition(number) for number in range(0, CRDS, 100)])
        after = time.perf_counter() - start
        measured.figures["  until all is listed, s"] = measured.server.ready_seconds + after
        measured.note_memory("after the restart")
    finally:
        await client.close()


@contextmanager
def embedded() -> Iterator[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        processes: list[subprocess.Popen[str]] = []

        def start() -> Server:
            stop(processes)
            began = time.perf_counter()
            process = subprocess.Popen(
                [CROSSPLY, "apiserver", "--data", folder, "--listen", "127.0.0.1:0"],
                stdout=subprocess.PIPE,
                text=True,
            )
            processes.append(process)
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("ready: ").strip()
            took = time.perf_counter() - began
            token = pathlib.Path(folder, "admin.token").read_text()
            return Server("embedded", url, token, f"{folder}/pki/ca.crt", (process.pid,), took)

        try:
            yield Measured(start(), start)
        finally:
            stop(processes)


def stop(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        process.terminate()
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()
    processes.clear()


@contextmanager
def real() -> Iterator[Measured]:
    from tests.support.cluster.real_cluster import RealCluster

    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with RealCluster(folder, controllers=()) as cluster:

            def server(took: float) -> Server:
                pids = tuple(process.pid for process in cluster.processes.values())
                return Server(
                    "kube-apiserver + etcd", cluster.url, cluster.token, cluster.ca_path, pids, took
                )

            def restart() -> Server:
                cluster.processes["kube-apiserver"].stop(60)
                began = time.perf_counter()
                cluster.restart_apiserver()
                return server(time.perf_counter() - began)

            yield Measured(server(time.perf_counter() - began), restart)


def main() -> None:
    from tests.support.cluster.process import ClusterFailed

    print(f"bare Python {bare_python_ms():.1f} ms, plain loop {loop_per_second():,.0f}/s")
    results = {}
    makers = (embedded,) if os.environ.get("BENCH_REAL") == "0" else (embedded, real)
    for make in makers:
        try:
            with make() as measured:
                print(f"measuring {measured.server.name} ...", flush=True)
                asyncio.run(measure(measured))
                asyncio.run(measure_restart(measured))
                results[measured.server.name] = measured.figures
        except (ClusterFailed, OSError) as problem:
            print(f"{make.__name__}: not measured ({problem})")
    names = list(results)
    print(f"{'':34}" + "".join(f"{name:>24}" for name in names))
    for figure in results[names[0]]:
        print(f"{figure:34}" + "".join(f"{results[name].get(figure, 0):24,.1f}" for name in names))
    if path := os.environ.get("BENCH_JSON"):
        pathlib.Path(path).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
