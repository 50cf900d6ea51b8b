"""What clients of the API server wait for while another user sends the largest or slowest requests possible.

Prints the median and the 99th percentile of small requests, how many of them were refused, and the memory of
the server, at rest and beside each load. The 99th percentile is to stay below 100 ms and nothing is to be
refused, whatever the other user sends.
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
from urllib.parse import urlsplit

import aiohttp

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
SECONDS = float(os.environ.get("BENCH_SECONDS", "5"))
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/bench.example.org/v1/namespaces/default/things"
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
YAML = {"Content-Type": "application/yaml"}
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
USERS = ("measured", "loading")
SLOW_BODIES = "slow bodies"
UNREAD_LISTS = "unread lists"


class Server(NamedTuple):
    """A server under measurement. The tokens of its two users are their names."""

    url: str
    admin_token: str
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
        tokens = place / "tokens.csv"
        tokens.write_text("".join(f"{name},{name},{name}\n" for name in USERS))
        command = [CROSSPLY, "apiserver", "--in-memory", "--data", directory, "--listen", "127.0.0.1:0"]
        command += ["--token-file", str(tokens)]
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


def binding() -> dict[str, object]:
    """Lets both users do everything."""
    group = "rbac.authorization.k8s.io"
    subjects = [{"apiGroup": group, "kind": "User", "name": name} for name in USERS]
    role = {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"}
    return {"metadata": {"name": "bench"}, "roleRef": role, "subjects": subjects}


async def keep_connections_open(url: str, token: str, ca: str, name: str, clients: int) -> None:
    """Send bodies a byte now and then, or ask for lists and read none; print how many were answered."""
    context = ssl.create_default_context(cafile=ca)
    parts = urlsplit(url)
    method, path = ("POST", CONFIGMAPS) if name == SLOW_BODIES else ("GET", CONFIGMAPS)
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    if name == SLOW_BODIES:
        head += f"Content-Length: {3 << 20}\r\n"
    answers: Counter[str] = Counter()
    until = time.perf_counter() + SECONDS

    async def connect() -> None:
        try:
            connecting = asyncio.open_connection(parts.hostname, parts.port, ssl=context, limit=1024)
            reader, writer = await connecting
            writer.write(f"{head}\r\n".encode())
            while time.perf_counter() < until:
                if name == SLOW_BODIES:
                    writer.write(b" ")
                await asyncio.sleep(1)
            line = await asyncio.wait_for(reader.readline(), 0.1)
            answers[line.split()[1].decode()] += 1
            writer.transport.abort()
        except TimeoutError:
            answers["still open"] += 1
        except (OSError, IndexError):
            answers["closed"] += 1

    print("begins", flush=True)
    await asyncio.gather(*(connect() for _ in range(clients)))
    print(dict(answers))


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


async def small_requests(
    session: aiohttp.ClientSession, beside: asyncio.subprocess.Process
) -> tuple[list[float], int]:
    """How long reads, writes and health checks take while a process runs, and how many are refused."""
    took = []
    refused = 0
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
                refused += answer.status >= 400
            took.append(time.perf_counter() - began)
        await asyncio.sleep(0.005)
    return took, refused


def memory(pid: int) -> float:
    """The resident memory of a process in MiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def measured(session: aiohttp.ClientSession, server: Server, name: str, clients: int) -> None:
    before = memory(server.pid)
    # Large bodies take time to make, too: they come from a process of their own.
    command = [sys.executable, __file__, server.url, "loading", server.ca, name, str(clients)]
    sending = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert sending.stdout is not None
    await sending.stdout.readline()
    took, refused = await small_requests(session, sending)
    answers = (await sending.stdout.read()).decode().strip()
    line = f"{name:12} x{clients:<3}  median {1000 * statistics.median(took):7.1f} ms"
    line += f"  p99 {1000 * statistics.quantiles(took, n=100)[98]:7.1f} ms  most {1000 * max(took):7.1f} ms"
    line += f"  refused {refused:4} of {len(took)}"
    print(f"{line}  memory {before:6.0f} -> {memory(server.pid):6.0f} MiB  {answers}", flush=True)


async def main() -> None:
    with serving() as server:
        async with session_to(server.url, server.admin_token, server.ca) as session:
            for path, body in (
                (BINDINGS, binding()),
                (DEFINITIONS, definition()),
                (CONFIGMAPS, {"metadata": {"name": "small"}}),
                *(
                    (CONFIGMAPS, {"metadata": {"name": f"l{n}"}, "data": {"a": "x" * 500_000}})
                    for n in range(4)
                ),
                (THINGS, thing("base", free={"a": "x" * 100, "items": []})),
            ):
                async with session.post(path, json=body) as answer:
                    assert answer.status == 201, await answer.text()
        async with session_to(server.url, "measured", server.ca) as session:
            for name, clients in (
                ("rest", 0),
                (SLOW_BODIES, 64),
                (UNREAD_LISTS, 500),
                ("copy bomb", 1),
                ("inserts", 1),
                ("list map", 1),
                ("yaml", 4),
            ):
                await measured(session, server, name, clients)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        url, token, ca, name, clients = sys.argv[1:]
        send = keep_connections_open if name in (SLOW_BODIES, UNREAD_LISTS) else send_large
        asyncio.run(send(url, token, ca, name, int(clients)))
    else:
        asyncio.run(main())
