"""A control plane at work: many composite resources at once, what they cost in requests, and what rest costs.

The yardstick is the API server itself: how fast the same client creates as many ConfigMaps on it.
BENCH_XRS sets how many composite resources are made (200).
"""

from __future__ import annotations

import asyncio
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import orjson

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.discovery import Discovery
from crossply.kube.failures import NotServed
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.yaml import read_stream

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "00-quick-start"
CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
XRS = int(os.environ.get("BENCH_XRS", "200"))
WORKERS = 32
REST_SECONDS = 10
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
SITE = Kind("quickstart.example.org", "v1", "Site", "sites", True)
_COUNTED = re.compile(r'apiserver_request_total\{.*verb="([A-Z]+)".*\} ([\d.]+)')
_READS = ("GET", "LIST", "WATCH")


@contextmanager
def control_plane() -> Iterator[str]:
    """The kubeconfig of a running control plane, on disk as a user has it."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            [CROSSPLY, "up", "--detach", "--data", directory], check=True, stdout=subprocess.DEVNULL
        )
        try:
            yield f"{directory}/kubeconfig"
        finally:
            subprocess.run([CROSSPLY, "down", "--data", directory], check=True, stdout=subprocess.DEVNULL)


async def install(client: Client) -> None:
    """Apply the quick start without its composite resource, and wait until that can be made."""
    discovery = Discovery(client)
    for name in ("definition", "composition", "functions"):
        for document in read_stream((EXAMPLE / f"{name}.yaml").read_bytes()):
            obj = document.value
            await client.apply(await discovery.kind_for(obj["apiVersion"], obj["kind"]), obj, "bench")
    while True:
        try:
            await client.list(SITE, "default")
            return
        except NotServed:
            await asyncio.sleep(0.1)


async def create_all(create: Callable[[int], Awaitable[object]]) -> float:
    """Make as many objects as there are composite resources, and say how long it took."""
    gate = asyncio.Semaphore(WORKERS)

    async def one(index: int) -> None:
        async with gate:
            await create(index)

    begin = time.perf_counter()
    await asyncio.gather(*map(one, range(XRS)))
    return time.perf_counter() - begin


async def requests(client: Client) -> Counter[str]:
    """How many requests the API server has answered, by verb."""
    reply = await client.request("GET", "/metrics", accept="text/plain")
    counts: Counter[str] = Counter()
    for verb, count in _COUNTED.findall(reply.data.decode()):
        counts[verb] += int(float(count))
    return counts


def is_ready(data: bytes) -> bool:
    conditions = (orjson.loads(data).get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


async def until_ready(client: Client) -> None:
    while not all(map(is_ready, (await client.list(SITE, "default")).items)):
        await asyncio.sleep(0.1)


def named(kind: Kind, name: str, **rest: Object) -> Object:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, "namespace": "default"},
        **rest,
    }


def writes(counts: Counter[str]) -> int:
    return sum(count for verb, count in counts.items() if verb not in _READS)


@asynccontextmanager
async def installed() -> AsyncIterator[Client]:
    with control_plane() as kubeconfig:
        async with Client(load_config(kubeconfig)) as client:
            await install(client)
            yield client


async def main() -> None:
    async with installed() as client:
        bare = await create_all(lambda n: client.create(CONFIG_MAP, named(CONFIG_MAP, f"bare-{n}", data={})))
        before, begin = await requests(client), time.perf_counter()
        await create_all(lambda n: client.create(SITE, named(SITE, f"s-{n}", spec={"greeting": "Hi"})))
        await until_ready(client)
        took = time.perf_counter() - begin
        await asyncio.sleep(3)
        settled = await requests(client)
        print(f"yardstick: {XRS / bare:,.0f} bare creates a second by {WORKERS} writers on the same server")
        print(f"{XRS} composite resources of 2 resources each are all Ready after {took:.1f} s")
        written = writes(settled) - writes(before)
        print(f"writes for each: {written / XRS:.2f}, its creation and its two resources among them")
        rate = written / took
        print(f"that is {rate:,.0f} writes a second, {rate * bare / XRS:.2f} x the yardstick")
        await asyncio.sleep(REST_SECONDS)
        rest = await requests(client) - settled
        # The one request that asks for the counts is not the control plane's.
        print(f"requests in {REST_SECONDS} s of rest: {max(0, rest.total() - 1)}")


if __name__ == "__main__":
    asyncio.run(main())
