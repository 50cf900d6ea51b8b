"""RunFunction calls a second of the same functions: on crossply.sdk, on the shim, and on the published SDK.

The published SDK lives in an environment of its own, which the test suite makes (.cache/venv-sdk). Each
server is a process; the calls come from this one, over gRPC, from a few threads. What a call costs the server
is its CPU time, which does not depend on how busy the client is.

A function sees the same composite resources again and again, of which ours make use: `fifty` goes round ten
of them. In `fifty, all new` no call and no object in it was ever seen before.
"""

from __future__ import annotations

import json
import pathlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import NamedTuple

import grpc

from crossply.compose.function_messages import Request, Resource, State
from crossply.compose.wire_codec import decode_response, encode_request
from crossply.functions.remote import METHOD
from crossply.values.protobuf_struct import from_wire, to_wire
from machine import loop_per_second
from processes import used

HERE = pathlib.Path(__file__).resolve().parent
PUBLISHED = HERE.parent / ".cache" / "venv-sdk" / "bin" / "python"
CROSSPLY = str(pathlib.Path(sys.executable).with_name("crossply"))
THREADS = 4
SECONDS = 1.0
SPELLS = 4
NAME = "fleet-00000"
"""Of the XR: each request has another number, of the same length."""


class Measured(NamedTuple):
    """What one server did."""

    calls: float
    """A second."""
    cpu: float
    """Milliseconds of the server's CPU time per call."""


def request() -> bytes:
    """Fifty observed resources, and ten that a step before wants."""
    xr = {
        "apiVersion": "example.org/v1",
        "kind": "XFleet",
        "metadata": {"name": NAME, "uid": "5f4c3b1a"},
        "spec": {"count": 50, "region": "eu-west-1", "size": "t3.small", "team": "blue"},
    }
    observed = {f"instance-{number}": Resource(to_wire(_observed(number))) for number in range(50)}
    earlier = {f"earlier-{number}": Resource(to_wire(_observed(number))) for number in range(10)}
    return encode_request(Request(State(Resource(to_wire(xr)), observed), State(None, earlier)))


def _observed(number: int) -> dict[str, object]:
    return {
        "apiVersion": "ec2.aws.example.org/v1beta1",
        "kind": "Instance",
        "metadata": {
            "name": f"{NAME}-{number:05}",
            "uid": f"0d1c{number:08}",
            "resourceVersion": str(90_000 + number),
            "labels": {"team": "blue", "crossplane.io/composite": NAME, "number": str(number)},
            "ownerReferences": [{"kind": "XFleet", "name": NAME, "uid": "5f4c3b1a", "controller": True}],
        },
        "spec": {"forProvider": {"region": "eu-west-1", "instanceType": "t3.small", "cpuCoreCount": 4}},
        "status": {
            "atProvider": {"id": f"i-{number:017x}", "state": "running", "ip": f"10.0.0.{number}"},
            "conditions": [
                {"type": "Synced", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
            ],
        },
    }


def servers(function: str) -> dict[str, list[str]]:
    """The commands that serve a function on each SDK; ADDRESS stands for where."""
    run = [CROSSPLY, "function", "run", "--insecure", "--address", "ADDRESS"]
    running = {
        "crossply.sdk": [*run, f"{HERE}/functions/ours.py:{function}"],
        "the shim": [*run, "--sdk", "crossply", f"{HERE}/functions/published.py:{function.title()}"],
    }
    if PUBLISHED.exists():
        script = f"{HERE}/functions/published.py"
        running["the published SDK"] = [str(PUBLISHED), script, function.title(), "ADDRESS"]
    return running


@contextmanager
def started(command: list[str]) -> Iterator[tuple[int, grpc.Channel]]:
    """A server's process, and a channel to it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    process = subprocess.Popen(
        [address if word == "ADDRESS" else word for word in command], stderr=subprocess.DEVNULL
    )
    try:
        with grpc.insecure_channel(address) as channel:
            grpc.channel_ready_future(channel).result(timeout=30)
            yield process.pid, channel
    finally:
        process.terminate()
        process.wait(10)


class Server:
    """A server that runs, and the best that was measured of it."""

    def __init__(self, pid: int, channel: grpc.Channel, data: bytes, different: int) -> None:
        self._pid = pid
        self._call = channel.unary_unary(METHOD)
        self.answer = self._call(data)
        self._requests = (data.replace(NAME.encode(), f"fleet-{n % different:05}".encode()) for n in count(1))
        _calls(self._call, self._requests, 0.5)
        self.best = Measured(0.0, float("inf"))

    def measure(self) -> None:
        """Call it for a while from a few threads."""
        before, start = used(self._pid).cpu, time.perf_counter()
        done = _calls(self._call, self._requests, SECONDS)
        seconds, cpu = time.perf_counter() - start, used(self._pid).cpu - before
        self.best = Measured(max(self.best.calls, done / seconds), min(self.best.cpu, cpu / done * 1000))


def _calls(call: grpc.UnaryUnaryMultiCallable, requests: Iterator[bytes], seconds: float) -> int:
    done = [0] * THREADS
    end = time.perf_counter() + seconds
    turn = threading.Lock()

    def work(index: int) -> None:
        while time.perf_counter() < end:
            with turn:
                data = next(requests)
            call(data)
            done[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done)


def main() -> None:
    """Print the figures."""
    print(f"yardstick: {loop_per_second():.0f} loops/s")
    if not PUBLISHED.exists():
        print(
            "THE PUBLISHED SDK IS NOT MEASURED: run tests/functions/test_peer_sdk.py once, which installs it"
        )
    for title, function, different in (
        ("trivial", "trivial", 10),
        ("fifty", "fifty", 10),
        ("fifty, all new", "fifty", 99_999),
    ):
        compare(title, function, different)


def compare(title: str, function: str, different: int) -> None:
    """Print the figures of one function on each SDK: the best of some spells, in which they take turns."""
    data = request()
    with ExitStack() as stack:
        results = {
            name: Server(*stack.enter_context(started(command)), data, different)
            for name, command in servers(function).items()
        }
        answers = {json.dumps(_comparable(server.answer), sort_keys=True) for server in results.values()}
        assert len(answers) == 1, "the SDKs do not give the same answer"
        for _ in range(SPELLS):
            for server in results.values():
                server.measure()
    published = results.get("the published SDK")
    for name, server in results.items():
        calls, cpu = server.best
        times = f", {calls / published.best.calls:.1f} x the published SDK" if published else ""
        print(f"{title}: {name}: {calls:.0f} calls/s, {cpu:.2f} ms CPU per call{times}")


def _comparable(answer: bytes) -> object:
    response = decode_response(answer)
    desired = response.desired
    assert desired is not None
    resources = {
        name: (from_wire(resource.object), resource.ready) for name, resource in desired.resources.items()
    }
    composite = from_wire(desired.composite.object) if desired.composite else None
    return resources, composite, response.results, response.tag, response.ttl


if __name__ == "__main__":
    main()
