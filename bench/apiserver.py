"""The embedded API server beside kube-apiserver + etcd: the same requests, the same machine, one run.

Without the real programs (`tests/cluster/build.sh` makes them) only the embedded server is measured.
BENCH_OBJECTS sets how many objects are made (10,000).
"""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import aiohttp

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
OBJECTS = int(os.environ.get("BENCH_OBJECTS", "10000"))
WORKERS = 64
WATCHES = 500
GROUP = "/apis/bench.example.org/v1"
PLACE = f"{GROUP}/namespaces/default/things"
APPLY = "application/apply-patch+yaml"


class Server(NamedTuple):
    """A measured server and its processes."""

    name: str
    url: str
    token: str
    ca: str
    pids: tuple[int, ...]
    ready_seconds: float


def crd() -> dict[str, object]:
    field = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    spec = {"type": "object", "properties": {f"f{n}": field for n in range(40)}}
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.bench.example.org"},
        "spec": {"group": "bench.example.org", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def thing(name: str) -> bytes:
    """An object of about 3 KB."""
    spec = {f"f{n}": {"a": "x" * 48, "b": n} for n in range(40)}
    metadata = {"name": name, "namespace": "default", "labels": {"app": "bench"}}
    obj = {"apiVersion": "bench.example.org/v1", "kind": "Thing", "metadata": metadata, "spec": spec}
    return json.dumps(obj).encode()


class Client:
    """As fast a client as Python has; it is the same for both servers."""

    def __init__(self, server: Server) -> None:
        context = ssl.create_default_context(cafile=server.ca)
        headers = {"Authorization": f"Bearer {server.token}", "Accept": "application/json"}
        connector = aiohttp.TCPConnector(ssl=context, limit=0)
        timeout = aiohttp.ClientTimeout(total=120)
        self._session = aiohttp.ClientSession(
            server.url, headers=headers, connector=connector, timeout=timeout
        )

    async def call(
        self, method: str, path: str, body: bytes | None = None, kind: str = "application/json"
    ) -> bytes:
        async with self._session.request(method, path, data=body, headers={"Content-Type": kind}) as answer:
            data = await answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"{method} {path}: {answer.status} {data[:300]!r}")
            return data

    def stream(
        self, path: str, headers: dict[str, str] | None = None
    ) -> aiohttp.client._RequestContextManager:
        return self._session.get(path, headers=headers, timeout=aiohttp.ClientTimeout(total=None))

    async def close(self) -> None:
        await self._session.close()


async def rate(count: int, work: Callable[[int], Awaitable[object]], workers: int = WORKERS) -> float:
    """How many of `count` pieces of work are done in a second, `workers` at a time."""
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await work(number)

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(workers)))
    return count / (time.perf_counter() - start)


async def measure(server: Server) -> dict[str, float]:
    """Everything there is to measure of one server."""
    client = Client(server)
    figures = {"ready, s": server.ready_seconds, "RSS empty, MB": memory(server.pids)}
    try:
        await client.call(
            "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json.dumps(crd()).encode()
        )
        await served(client)
        figures["creates/s"] = await rate(OBJECTS, lambda n: client.call("POST", PLACE, thing(f"t{n}")))
        figures["RSS full, MB"] = memory(server.pids)
        figures["GETs/s"] = await rate(OBJECTS, lambda n: client.call("GET", f"{PLACE}/t{n}"))
        start = time.perf_counter()
        await client.call("GET", PLACE)
        figures[f"list of {OBJECTS:,}, ms"] = (time.perf_counter() - start) * 1000
        count = max(OBJECTS // 4, 100)
        apply = "?fieldManager=bench&force=true"
        for name in ("applies/s, create", "applies/s, no change"):
            figures[name] = await rate(
                count, lambda n: client.call("PATCH", f"{PLACE}/a{n}{apply}", thing(f"a{n}"), APPLY)
            )
        figures |= await watch_latency(client)
    finally:
        await client.close()
    return figures


async def served(client: Client) -> None:
    for _ in range(100):
        try:
            await client.call("GET", PLACE)
            return
        except RuntimeError:
            await asyncio.sleep(0.1)


async def watch_latency(client: Client) -> dict[str, float]:
    """How long after a write is sent 500 watches have its event: the median and the slow end."""
    arrivals: list[float] = []
    sent = {}
    opened = asyncio.Semaphore(0)

    async def watch() -> None:
        async with client.stream(f"{PLACE}?watch=1&resourceVersion={version}") as answer:
            opened.release()
            async for line in answer.content:
                name = json.loads(line)["object"]["metadata"]["name"]
                if name in sent:
                    arrivals.append(time.perf_counter() - sent[name])

    version = json.loads(await client.call("GET", f"{PLACE}?limit=1"))["metadata"]["resourceVersion"]
    tasks = [asyncio.create_task(watch()) for _ in range(WATCHES)]
    for _ in range(WATCHES):
        await opened.acquire()
    for number in range(20):
        name = f"w{number}"
        body = json.dumps(
            {"apiVersion": "bench.example.org/v1", "kind": "Thing", "metadata": {"name": name}}
        ).encode()
        sent[name] = time.perf_counter()
        await client.call("POST", PLACE, body)
        await asyncio.sleep(0.15)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    ordered = sorted(arrivals)
    p99 = ordered[int(len(ordered) * 0.99)] * 1000
    return {"watch p50, ms": statistics.median(ordered) * 1000, "watch p99, ms": p99}


def memory(pids: tuple[int, ...]) -> float:
    """Resident memory of all processes, in megabytes."""
    total = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                total += int(line.split()[1])
    return total / 1024


@contextmanager
def embedded() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        process = subprocess.Popen(
            [CROSSPLY, "apiserver", "--data", folder, "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("ready: ").strip()
        took = time.perf_counter() - start
        token = pathlib.Path(folder, "admin.token").read_text()
        try:
            yield Server("embedded", url, token, f"{folder}/pki/ca.crt", (process.pid,), took)
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def real() -> Iterator[Server]:
    from tests.support.cluster.real_cluster import RealCluster

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        with RealCluster(folder, controllers=()) as cluster:
            took = time.perf_counter() - start
            pids = tuple(process.pid for process in cluster.processes.values())
            yield Server("kube-apiserver + etcd", cluster.url, cluster.token, cluster.ca_path, pids, took)


def main() -> None:
    from tests.support.cluster.process import ClusterFailed

    results = {}
    for make in (embedded, real):
        try:
            with make() as server:
                print(f"measuring {server.name} ...", flush=True)
                results[server.name] = asyncio.run(measure(server))
        except (ClusterFailed, OSError) as problem:
            print(f"{make.__name__}: not measured ({problem})")
    names = list(results)
    print(f"{'':28}" + "".join(f"{name:>24}" for name in names))
    for figure in results[names[0]]:
        print(f"{figure:28}" + "".join(f"{results[name][figure]:24,.1f}" for name in names))


if __name__ == "__main__":
    main()
