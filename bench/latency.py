"""What clients of the API server wait for while another one sends the largest requests that it may.

Prints the median and the 99th percentile of small requests and the memory of the server, at rest and beside
each kind of large request. The 99th percentile is to stay below 100 ms, whatever the others send.
BENCH_SECONDS sets how long each kind is sent (5).
"""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import secrets
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import aiohttp

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
SECONDS = float(os.environ.get("BENCH_SECONDS", "5"))
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/bench.example.org/v1/namespaces/default/things"
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
YAML = {"Content-Type": "application/yaml"}


class Server(NamedTuple):
    """A server under measurement."""

    url: str
    token: str
    ca: str
    pid: int


def definition() -> dict[str, object]:
    item = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}
    parts = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": item,
    }
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {"type": "object", "properties": {"parts": parts, "free": free}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "metadata": {"name": "things.bench.example.org"},
        "spec": {
            "group": "bench.example.org",
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def thing(name: str, **spec: object) -> dict[str, object]:
    return {"apiVersion": "bench.example.org/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec}


@contextmanager
def serving() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        command = [CROSSPLY, "apiserver", "--in-memory", "--data", directory, "--listen", "127.0.0.1:0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("ready: ").strip()
        try:
            token = (place / "admin.token").read_text().strip()
            yield Server(url, token, str(place / "pki" / "ca.crt"), process.pid)
        finally:
            process.terminate()
            process.wait(30)


def large_request(name: str) -> tuple[str, str, bytes, dict[str, str]]:
    """Method, path, body and headers of a kind of large request."""
    if name == "copy bomb":
        operations = [{"op": "copy", "from": "/spec/free", "path": f"/spec/free/c{n}"} for n in range(40)]
        return "PATCH", f"{THINGS}/base", json.dumps(operations).encode(), JSON_PATCH
    if name == "inserts":
        operations = [{"op": "add", "path": "/spec/free/items/0", "value": str(n)} for n in range(10_000)]
        return "PATCH", f"{THINGS}/base", json.dumps(operations).encode(), JSON_PATCH
    if name == "list map":
        body = json.dumps(thing("large", parts=[{"k": f"{n}"} for n in range(150_000)])).encode()
        return "PATCH", f"{THINGS}/large?fieldManager=bench&force=true", body, APPLY
    lines = "".join(f"    k{n}: value {n}\n" for n in range(110_000))
    head = "apiVersion: bench.example.org/v1\nkind: Thing\nmetadata:\n  name: yaml\n"
    return "POST", f"{THINGS}?dryRun=All", f"{head}spec:\n  free:\n{lines}".encode(), YAML


def session_to(url: str, token: str, ca: str) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=ca), limit=0)
    headers = {"Authorization": f"Bearer {token}"}
    timeout = aiohttp.ClientTimeout(total=120)
    return aiohttp.ClientSession(url, headers=headers, timeout=timeout, connector=connector)


async def send_large(url: str, token: str, ca: str, name: str, clients: int) -> None:
    """Send large requests until the time is over, and print how they were answered."""
    method, path, body, headers = large_request(name)
    answers: Counter[int] = Counter()
    print("begins", flush=True)
    until = time.perf_counter() + SECONDS

    async def send(session: aiohttp.ClientSession) -> None:
        while time.perf_counter() < until:
            async with session.request(method, path, data=body, headers=headers) as answer:
                await answer.read()
                answers[answer.status] += 1

    async with session_to(url, token, ca) as session:
        await asyncio.gather(asyncio.sleep(SECONDS), *(send(session) for _ in range(clients)))
    print(dict(answers))


async def small_requests(session: aiohttp.ClientSession, beside: asyncio.subprocess.Process) -> list[float]:
    """How long reads, writes and health checks of another client take while a process runs."""
    took = []
    while beside.returncode is None:
        for method, path in (
            ("GET", "/livez"),
            ("GET", f"{CONFIGMAPS}/small"),
            ("PATCH", f"{CONFIGMAPS}/small"),
        ):
            began = time.perf_counter()
            body = json.dumps({"data": {"a": secrets.token_hex(4)}}) if method == "PATCH" else None
            headers = {"Content-Type": "application/merge-patch+json"} if body else {}
            async with session.request(method, path, data=body, headers=headers) as answer:
                await answer.read()
            took.append(time.perf_counter() - began)
        await asyncio.sleep(0.005)
    return took


def memory(pid: int) -> float:
    """The resident memory of a process in MiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def measured(session: aiohttp.ClientSession, server: Server, name: str, clients: int) -> None:
    before = memory(server.pid)
    # Large bodies take time to make, too: they come from a process of their own.
    command = [sys.executable, __file__, server.url, server.token, server.ca, name, str(clients)]
    sending = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert sending.stdout is not None
    await sending.stdout.readline()
    took = await small_requests(session, sending)
    answers = (await sending.stdout.read()).decode().strip()
    line = f"{name:10} x{clients}  median {1000 * statistics.median(took):7.1f} ms"
    line += f"  p99 {1000 * statistics.quantiles(took, n=100)[98]:7.1f} ms  most {1000 * max(took):7.1f} ms"
    print(f"{line}  memory {before:6.0f} -> {memory(server.pid):6.0f} MiB  {answers}", flush=True)


async def main() -> None:
    with serving() as server:
        async with session_to(server.url, server.token, server.ca) as session:
            for path, body in (
                (DEFINITIONS, definition()),
                (CONFIGMAPS, {"metadata": {"name": "small"}}),
                (THINGS, thing("base", free={"a": "x" * 100, "items": []})),
            ):
                async with session.post(path, json=body) as answer:
                    assert answer.status == 201, await answer.text()
            for name, clients in (
                ("rest", 0),
                ("copy bomb", 1),
                ("inserts", 1),
                ("list map", 1),
                ("yaml", 4),
            ):
                await measured(session, server, name, clients)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(send_large(*sys.argv[1:5], int(sys.argv[5])))
    else:
        asyncio.run(main())
