"""Functions that crash, hang or require too much: render names the failed step and the reason, in time."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading

import grpc
import pytest

from crossply.functions.proto.v1.run_function_pb2 import RunFunctionResponse
from tests.support.cli.render_bench import (
    CONFIG_MAP,
    CROSSPLY,
    FILES,
    Bench,
    composition,
    config_map_step,
    eventually,
    function,
    remote,
    serving,
    step,
    table,
)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def asking_for_ever():
    numbers = iter(range(1000))

    def answer(data: bytes, context: grpc.ServicerContext) -> bytes:
        reply = RunFunctionResponse()
        selector = reply.requirements.resources["more"]
        selector.api_version, selector.kind, selector.match_name = "v1", "ConfigMap", str(next(numbers))
        return reply.SerializeToString()

    return answer


def aborting(data: bytes, context: grpc.ServicerContext) -> bytes:
    context.abort(grpc.StatusCode.INTERNAL, "out of paint")


def of_size(size: int):
    def answer(data: bytes, context: grpc.ServicerContext) -> bytes:
        reply = RunFunctionResponse()
        reply.desired.resources["cm"].resource.update({**CONFIG_MAP, "data": {"x": "x" * size}})
        return reply.SerializeToString()

    return answer


@table(
    "answer sentence",
    ("garbage", lambda *_: b"\xff\xff\xff garbage", "cannot decode RunFunctionResponse"),
    ("half a reply", lambda *_: b"\x12\x7f\x0a", "cannot decode RunFunctionResponse"),
    ("an error", aborting, "rpc error: code = Internal desc = out of paint"),
    (
        "5 MiB",
        of_size(5 << 20),
        "rpc error: code = ResourceExhausted desc = grpc: received message larger than max (",
    ),
    (
        "new requirements every time",
        asking_for_ever(),
        "requirements didn't stabilize after the maximum number of iterations (5)",
    ),
)
def test_a_function_that_answers_badly(bench, answer, sentence) -> None:
    with serving(answer) as address:
        bench.write("functions.yaml", remote(address))
        message = bench.refusal(within=15).splitlines()[-1]
    assert 'cannot run Composition pipeline step "pt": ' in message
    assert sentence in message


def test_a_response_of_almost_4_mib_is_accepted(bench) -> None:
    with serving(of_size((4 << 20) - 1000)) as address:
        bench.write("functions.yaml", remote(address))
        done = bench.run(*FILES, "--output=json")
    assert len(json.loads(done.stdout)["items"][1]["data"]["x"]) == (4 << 20) - 1000


def test_a_function_that_drops_a_desired_resource_deletes_it(bench) -> None:
    """That is the protocol: the last function's word counts, and render shows what it would lead to."""
    with serving(lambda *_: b"") as address:
        bench.write("functions.yaml", function(), remote(address, "dropper"))
        bench.write("composition.yaml", composition(config_map_step(), step("drop", "dropper")))
        (xr,) = bench.render()
    assert xr["spec"]["crossplane"]["resourceRefs"] == []


def test_schemas_with_endless_mutual_references_are_refused(bench) -> None:
    def asking(data: bytes, context: grpc.ServicerContext) -> bytes:
        reply = RunFunctionResponse()
        reply.requirements.schemas["cm"].api_version = "v1"
        reply.requirements.schemas["cm"].kind = "ConfigMap"
        return reply.SerializeToString()

    def twice(name):
        return {"properties": {side: {"$ref": f"#/components/schemas/{name}"} for side in "ab"}}

    schemas = {f"s{level}": twice(f"s{level + 1}") for level in range(60)} | {"s60": {"type": "object"}}
    kind = {"group": "", "version": "v1", "kind": "ConfigMap"}
    schemas["s0"]["x-kubernetes-group-version-kind"] = [kind]
    bench.write("schemas/v1.json", json.dumps({"components": {"schemas": schemas}}))
    with serving(asking) as address:
        bench.write("functions.yaml", remote(address))
        message = bench.refusal(*FILES, "-s", "schemas", within=20)
    assert "fetching schema for cm: the OpenAPI schema of ConfigMap is too large" in message


def test_a_hanging_function_is_aborted_at_the_timeout(bench) -> None:
    over = threading.Event()
    with serving(lambda *_: over.wait(20) and b"") as address:
        bench.write("functions.yaml", remote(address))
        message = bench.refusal(*FILES, "--timeout=1s", within=15)
        over.set()
    assert "rpc error: code = DeadlineExceeded desc = context deadline exceeded" in message
    assert "raise --timeout" in message


@pytest.mark.parametrize("reason", ["nothing listens", "it accepts and is silent", "it speaks HTTP"])
def test_an_address_without_a_function_fails_at_the_timeout(bench, reason) -> None:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        if reason != "nothing listens":
            place.listen()
        if reason == "it speaks HTTP":
            threading.Thread(target=speak_http, args=(place,), daemon=True).start()
        bench.write("functions.yaml", remote(f"127.0.0.1:{place.getsockname()[1]}"))
        message = bench.refusal(*FILES, "--timeout=700ms", within=15)
    assert "rpc error: code = " in message
    assert "does the function serve at 127.0.0.1:" in message


def speak_http(place: socket.socket) -> None:
    for _ in range(50):
        try:
            line, _ = place.accept()
            with line:
                line.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        except OSError:
            return


CRASHING = """
import os, sys, grpc
from concurrent import futures

class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(self.crash)

    def crash(self, data, context):
        print("out of paint", flush=True)
        os._exit(7)

server = grpc.server(futures.ThreadPoolExecutor(2), handlers=[Handler()])
server.add_insecure_port(sys.argv[1])
server.start()
server.wait_for_termination()
"""


@table(
    "command sentence",
    (
        "it crashes when it is called",
        "{python} crash.py {address}",
        "ended with exit status 7: out of paint",
    ),
    ("it crashes at its start", "{python} -c 'exit(3)' {address}", "its process ended with exit status 3"),
    ("there is no such program", "./nope {address}", "No such file or directory"),
    ("it never listens", "{python} -c 'import time; time.sleep(60)' {address}", "does not listen on"),
)
def test_a_function_of_ones_own_that_does_not_work(bench, command, sentence) -> None:
    bench.write("crash.py", CRASHING)
    command = command.replace("{python}", sys.executable)
    bench.write("functions.yaml", function(crossply__runtime="process", crossply__command=command))
    message = bench.refusal(*FILES, f"--timeout={1 if 'sleep' in command else 15}s", within=20)
    assert sentence in message
    assert 'cannot run Function "pt": ' in message
    assert not left_over(bench.folder)


HANGING = """
import sys, time, grpc
from concurrent import futures

class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(self.hang)

    def hang(self, data, context):
        open("called", "w").close()
        time.sleep(60)

server = grpc.server(futures.ThreadPoolExecutor(2), handlers=[Handler()])
server.add_insecure_port(sys.argv[1])
server.start()
server.wait_for_termination()
"""


@table(
    "signal_number code",
    ("Ctrl-C", signal.SIGINT, 130),
    ("a time limit around the command", signal.SIGTERM, 143),
)
def test_a_terminated_render_stops_its_functions(bench, signal_number, code) -> None:
    bench.write("hang.py", HANGING)
    command = f"{sys.executable} hang.py {{address}}"
    bench.write("functions.yaml", function(crossply__runtime="process", crossply__command=command))
    process = subprocess.Popen([CROSSPLY, "render", *FILES], cwd=bench.folder, stderr=subprocess.PIPE)
    eventually((bench.folder / "called").exists)
    process.send_signal(signal_number)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (code, b"")
    assert not left_over(bench.folder)


def left_over(folder) -> list[str]:
    """Processes that still work in the folder."""
    processes = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{process}/cwd") == str(folder):
                processes.append(process)
        except OSError:
            continue
    return processes
