"""The dashboard on 10,000 composite resources with 40,000 composed resources: time of pages, and memory.

The caches alone are measured beside it: a process with the same informers and nothing else. BENCH_XRS sets
how many composite resources there are (10000); each composes four.
"""

from __future__ import annotations

import asyncio
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import aiohttp

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support import ui_world as world  # noqa: E402
from tests.support.browser import running_dashboard  # noqa: E402
from tests.support.server_process import Server  # noqa: E402

from crossply.kube.client import Client  # noqa: E402
from crossply.kube.config import load_config  # noqa: E402
from crossply.kube.informer import Informer  # noqa: E402
from crossply.ui.cluster_view import COMPOSED, REDUCED  # noqa: E402

XRS = int(os.environ.get("BENCH_XRS", "10000"))
RESOURCES_PER_XR = 4
AT_ONCE = 32
ROUNDS = 20


async def fill(client: Client) -> None:
    """Write the world; one in fifty is not ready because of what it composed."""
    await world.install_kinds(client)
    await world.namespace(client, "shop")
    numbers = iter(range(XRS))
    await asyncio.gather(*(_fill_some(client, numbers) for _ in range(AT_ONCE)))


async def _fill_some(client: Client, numbers) -> None:
    for number in numbers:
        name = f"network-{number}"
        names = [f"{name}-{index}" for index in range(RESOURCES_PER_XR)]
        references = tuple(world.reference(world.SUBNET, subnet) for subnet in names)
        is_failing = number % 50 == 0
        conditions = world.WAITING if is_failing else world.READY
        xr = await world.composite(client, name, "shop", conditions, references)
        for index, subnet in enumerate(names):
            failed = (world.condition("Synced", "False", "ReconcileError", "the CIDR overlaps"),)
            state = failed if is_failing and index == 0 else world.READY
            spec = {"forProvider": {"cidr": f"10.{number % 256}.{index}.0/24", "tags": {"owner": name}}}
            await world.composed(client, xr, subnet, state, spec=spec)


async def caches_alone(kubeconfig: str) -> None:
    """Print the resident memory of the informers by themselves, in KiB, before and after they are full."""
    before = resident("self")
    async with Client(load_config(kubeconfig)) as client:
        informers = [Informer(client, world.NETWORK, REDUCED), Informer(client, world.SUBNET, COMPOSED)]
        tasks = [asyncio.create_task(informer.run()) for informer in informers]
        for informer in informers:
            await informer.synced.wait()
        data = sum(len(encoded) for informer in informers for encoded in informer.objects())
        print(before, resident("self"), data)
        for task in tasks:
            task.cancel()


def resident(pid: int | str) -> int:
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1])


async def everything_read(pid: int) -> None:
    """Wait until the process has nothing left to read in the background."""
    used = -1.0
    while (now := processor_seconds(pid)) - used > 0.1:
        used = now
        await asyncio.sleep(2)


def processor_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(address: str, pid: int) -> None:
    """Open the pages as a browser would, first cold and then warm."""
    url = address.partition("/login")[0]
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=aiohttp.ClientTimeout(300)) as session:
        await _get(session, address)
        seconds, _ = await _get(session, url + "/")
        print(f"home, first time (reads everything)   {seconds * 1000:8.0f} ms")
        tree = f"{url}/resources/{world.GROUP}/Network/shop/network-0"
        seconds, _ = await _get(session, tree)
        print(f"tree, first time (reads what is composed) {seconds * 1000:5.0f} ms")
        await everything_read(pid)
        for name, path in (
            ("home", url + "/"),
            ("tree", tree),
            ("tree with drawer", tree + "?node=cloud.example.org/Subnet/shop/network-0-0"),
            ("list", url + "/composites"),
            ("list, filtered", url + "/composites?q=99"),
        ):
            times, size = [], 0
            for _ in range(ROUNDS):
                seconds, size = await _get(session, path)
                times.append(seconds * 1000)
            print(
                f"{name:20} median {statistics.median(times):6.0f} ms   worst {max(times):6.0f} ms  "
                f"{size:8} bytes"
            )
        print(f"memory of the dashboard              {resident(pid) / 1024:8.0f} MiB")


async def _get(session: aiohttp.ClientSession, url: str) -> tuple[float, int]:
    started = time.perf_counter()
    async with session.get(url) as answer:
        body = await answer.read()
        assert answer.status == 200, (url, answer.status, body[:300])
    return time.perf_counter() - started, len(body)


def main() -> None:
    if sys.argv[1:2] == ["--caches"]:
        asyncio.run(caches_alone(sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as directory:
        server = Server(pathlib.Path(directory), "--in-memory").start()
        try:
            asyncio.run(_filled(server.config))
            command = [sys.executable, __file__, "--caches", server.kubeconfig]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            before, after, data = map(int, output.split())
            print(f"memory of the caches alone           {after / 1024:8.0f} MiB")
            print(f"  (empty {before / 1024:.0f} MiB, encoded objects {data / 2**20:.0f} MiB)")
            with running_dashboard(server.kubeconfig, pathlib.Path(directory) / "ui.log") as dashboard:
                asyncio.run(measure(dashboard.address, dashboard.pid))
        finally:
            server.stop()


async def _filled(config) -> None:
    async with Client(config) as client:
        started = time.perf_counter()
        await fill(client)
        seconds = time.perf_counter() - started
        print(f"{XRS} composite resources, {XRS * RESOURCES_PER_XR} composed, written in {seconds:.0f} s")


if __name__ == "__main__":
    main()
