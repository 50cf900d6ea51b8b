"""The same file as a program, as a server with reload, over TLS, and as a function of the published SDK."""

from __future__ import annotations

import asyncio
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, State
from crossply.compose.wire_codec import decode_response, encode_request
from crossply.functions.failures import FunctionError
from crossply.functions.proto.v1 import run_function_pb2
from crossply.functions.remote import METHOD, Remote
from crossply.sdk.shim.grpc_services import service
from tests.support.function_servers import CROSSPLY, serving_file, started
from tests.support.ports import free_port

GREETER = pathlib.Path(__file__).parents[1] / "functions" / "sdk" / "greeter.py"
FILE = """
import asyncio, threading, time
from crossply.sdk import function
from words import GREETING

@function
def compose(req, rsp):
    spec = req.xr["spec"]
    if spec.get("explode"):
        raise RuntimeError("as asked")
    time.sleep(spec.get("sleep", 0))
    rsp.desired["greeting"] = {"kind": "Greeting", "spec": {"text": f"{GREETING} {spec.get('name')}"}}
    rsp.desired["padding"] = {"kind": "Padding", "spec": {"text": "x" * int(spec.get("padding", 0))}}

if __name__ == "__main__":
    compose.serve()
"""


GUIDE = """
import grpc
from crossplane.function import response
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1


class FunctionRunner(grpcv1.FunctionRunnerService):
    async def RunFunction(self, req: fnv1.RunFunctionRequest, _: grpc.aio.ServicerContext):
        rsp = response.to(req)
        response.normal(rsp, f"hello {req.observed.composite.resource['spec']['name']}")
        return rsp
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "main.py").write_text(FILE)
    (tmp_path / "words.py").write_text('GREETING = "hello"\n')
    return tmp_path / "main.py"


def new_request(**spec):
    return Request(State(Resource({"kind": "XR", "spec": {"name": "you", **spec}})))


def greeting(response):
    return response.desired.resources["greeting"].object["spec"]["text"]


def run(file, address, *arguments):
    return [CROSSPLY, "function", "run", str(file), "--address", address, *arguments]


def test_a_function_with_the_base_class_of_the_guide_is_served_and_called_by_it(tmp_path):
    (tmp_path / "fn.py").write_text(GUIDE)
    address = f"127.0.0.1:{free_port()}"
    with started(run(tmp_path / "fn.py", address, "--insecure"), address):
        client = service("apiextensions.fn.proto.v1.FunctionRunnerService", run_function_pb2).service
        message = run_function_pb2.RunFunctionRequest.FromString(encode_request(new_request()))
        with pytest.warns(match="experimental"):
            answer = client.RunFunction(message, address, insecure=True, timeout=10)
    assert [result.message for result in answer.results] == ["hello you"]


def test_a_file_is_a_program_that_serves_and_ends_on_sigterm(file):
    address = f"127.0.0.1:{free_port()}"
    metrics = f"127.0.0.1:{free_port()}"
    command = [sys.executable, str(file), "--insecure", "--address", address, "--metrics-address", metrics]
    with started(command, address) as process:
        remote = Remote("f", address)
        assert greeting(remote(new_request(), 10)) == "hello you"
        with grpc.insecure_channel(address) as channel:
            check = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        assert check.status == health_pb2.HealthCheckResponse.SERVING
        page = urllib.request.urlopen(f"http://{metrics}/metrics", timeout=60).read().decode()
        assert 'grpc_code="OK"} 1' in page
        assert "grpc_server_handling_seconds_count" in page
        finish_a_running_call(remote, process)
        remote.close()


def finish_a_running_call(remote, process):
    answers = []
    caller = threading.Thread(target=lambda: answers.append(remote(new_request(sleep=1.0), 10)))
    caller.start()
    time.sleep(0.4)  # so that the call is running
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    caller.join()
    assert greeting(answers[0]) == "hello you"


def test_serving_without_credentials_is_refused(file):
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert done.stderr.startswith("error: no credentials provided")


def test_an_exception_is_a_fatal_result_and_the_server_lives_on(file):
    address = f"127.0.0.1:{free_port()}"
    with started(run(file, address, "--insecure"), address) as process:
        remote = Remote("f", address)
        response = remote(new_request(explode=True), 10)
        assert response.results[0].severity == SEVERITY_FATAL
        assert response.results[0].message == "main.py:10: RuntimeError: as asked"
        assert greeting(remote(new_request(), 10)) == "hello you"
        remote.close()
        process.terminate()
        assert b"Traceback" not in process.stderr.read()


def test_debug_logs_calls_and_whole_exceptions(file):
    address = f"127.0.0.1:{free_port()}"
    with started(run(file, address, "--insecure", "--debug"), address) as process:
        remote = Remote("f", address)
        remote(new_request(explode=True), 10)
        remote.close()
        process.terminate()
        log = process.stderr.read().decode()
    assert "Traceback" in log
    assert "RuntimeError: as asked" in log
    assert "bytes in" in log


def test_reload_serves_the_files_as_they_are(file):
    address = f"127.0.0.1:{free_port()}"
    with started(run(file, address, "--insecure", "--reload"), address) as process:
        remote = Remote("f", address)
        assert greeting(remote(new_request(), 10)) == "hello you"
        (file.parent / "words.py").write_text('GREETING = "good evening"\n')
        assert eventually(lambda: greeting(remote(new_request(), 10)), "good evening you")
        file.write_text("def broken(:\n")
        time.sleep(0.3)
        assert greeting(remote(new_request(), 10)) == "good evening you"
        file.write_text(FILE.replace("Greeting", "Salute"))
        assert eventually(
            lambda: remote(new_request(), 10).desired.resources["greeting"].object["kind"], "Salute"
        )
        remote.close()
        process.terminate()
        log = process.stderr.read().decode()
    assert "main.py:1: invalid syntax" in log
    assert "the function is the one of before" in log


def eventually(ask, expected):
    end = time.monotonic() + 20
    while (value := ask()) != expected and time.monotonic() < end:
        time.sleep(0.05)
    return value == expected


def test_a_function_is_called_over_mutual_tls(file, certificates):
    address = f"localhost:{free_port()}"
    arguments = ("--tls-certs-dir", str(certificates / "server"), "--metrics-address", "")
    with started(run(file, address, *arguments), address):
        remote = Remote("f", address, str(certificates / "client"))
        assert greeting(remote(new_request(), 10)) == "hello you"
        remote.close()
        stranger = Remote("f", address, str(certificates / "stranger"))
        with pytest.raises(FunctionError):
            stranger(new_request(), 2)
        stranger.close()


def test_large_messages_have_a_limit_that_can_be_raised(file):
    address = f"127.0.0.1:{free_port()}"
    with started(run(file, address, "--insecure", "--max-recv-message-size", "1"), address):
        remote = Remote("f", address, max_reply=64 << 20)
        with pytest.raises(FunctionError, match="larger than max"):
            remote(new_request(name="x" * (2 << 20)), 10)
        # What it sends has no limit: the engine has one.
        assert (
            len(remote(new_request(padding=8 << 20), 30).desired.resources["padding"].object["spec"]["text"])
            == 8 << 20
        )
        remote.close()


def test_damaged_requests_are_refused(file):
    address = f"127.0.0.1:{free_port()}"
    with started(run(file, address, "--insecure"), address), grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(METHOD)
        good = encode_request(new_request())
        for damaged in (good[:-3], b"\xff" * 50, b"\x0a\x02\x0a\xff"):
            with pytest.raises(grpc.RpcError) as refusal:
                call(damaged, timeout=60)
            assert refusal.value.code() is grpc.StatusCode.INTERNAL
        not_text = good.replace(b"you", b"y\xffu")
        answer = decode_response(call(not_text, timeout=60))
        assert "the bytes of a Struct are damaged" in answer.results[0].message
        assert greeting(decode_response(call(good, timeout=60))) == "hello you"


@pytest.mark.parametrize("sdk", ["crossply", "auto"])
def test_a_function_of_the_published_sdk_is_served_on_the_shim(sdk):
    address = f"127.0.0.1:{free_port()}"
    with started(run(GREETER, address, "--insecure", "--sdk", sdk), address):
        remote = Remote("greeter", address)
        response = remote(new_request(times=5.0), 10)
        assert greeting(response) == "hello you"
        assert response.results[0].message == "hello you"
        broken = remote(new_request(explode=True, times=5.0), 10)
        assert broken.results[0].message == "greeter.py:18: RuntimeError: as asked"
        remote.close()


def test_a_program_of_the_published_sdk_runs_on_the_shim(certificates):
    """`runtime.serve` as its author calls it, with TLS, and with the published errors."""
    address = f"localhost:{free_port()}"
    command = [sys.executable, "-m", "crossply.sdk.shim", str(GREETER), address, str(certificates / "server")]
    with started(command, address) as process:
        remote = Remote("greeter", address, str(certificates / "client"))
        assert greeting(remote(new_request(times=5.0), 10)) == "hello you"
        with pytest.raises(
            FunctionError, match="code = Unknown desc = Unexpected <class 'RuntimeError'>: as asked"
        ):
            remote(new_request(explode=True), 10)
        remote.close()
        process.terminate()
        assert process.wait(60) == 0


def test_a_port_that_the_system_chooses_is_logged(tmp_path):
    file = tmp_path / "main.py"
    file.write_text(
        "from crossply.sdk import function\n\n@function\ndef compose(req, rsp):\n    rsp.normal('hi')\n"
    )
    with serving_file(file) as address:
        remote = Remote("main", address)
        assert [result.message for result in remote(new_request(), 20).results] == ["hi"]
        remote.close()


def test_the_published_sdk_can_be_required(tmp_path):
    done = subprocess.run(
        run(GREETER, "127.0.0.1:0", "--insecure", "--sdk", "published"),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 1
    assert "the published SDK, crossplane.function, is not installed" in done.stderr


ASYNC = """
import asyncio
from crossply.sdk import function

running = most = 0

@function
async def compose(req, rsp):
    global running, most
    running += 1
    most = max(most, running)
    await asyncio.sleep(req.xr["spec"].get("sleep", 0))
    if req.xr["spec"].get("spin"):
        while True:
            pass
    running -= 1
    rsp.normal(str(most))

@function
async def quick(req, rsp):
    rsp.normal("no await")

@function
async def looks(req, rsp):
    rsp.normal(str(asyncio.get_running_loop().is_running()))
"""


def test_async_functions_wait_together(tmp_path):
    (tmp_path / "main.py").write_text(ASYNC)
    address = f"127.0.0.1:{free_port()}"
    with started(run(f"{tmp_path}/main.py:compose", address, "--insecure"), address):
        remotes = [Remote("f", address) for _ in range(6)]
        threads = [threading.Thread(target=remote, args=(new_request(sleep=0.5), 20)) for remote in remotes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert int(remotes[0](new_request(), 20).results[0].message) > 1
        for remote in remotes:
            remote.close()


def test_an_async_function_that_never_comes_back_is_left_behind(tmp_path):
    (tmp_path / "main.py").write_text(ASYNC)
    address = f"127.0.0.1:{free_port()}"
    with started(run(f"{tmp_path}/main.py:compose", address, "--insecure"), address):
        remote = Remote("f", address)
        with pytest.raises(FunctionError):
            remote(new_request(spin=True), 0.5)
        assert remote(new_request(), 20).results
        remote.close()


@pytest.mark.parametrize(("name", "says"), [("quick", "no await"), ("looks", "True")])
def test_an_async_function_may_await_nothing(tmp_path, name, says):
    from crossply.sdk.function_file import load

    (tmp_path / "main.py").write_text(ASYNC)
    loaded = load(f"{tmp_path}/main.py:{name}").function

    async def in_a_loop():
        return loaded.run(new_request())

    assert loaded.run(new_request()).results[0].message == says
    assert asyncio.run(in_a_loop()).results[0].message == says
