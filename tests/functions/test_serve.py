"""A served function: both versions, reflection, health, and a server that outlives every bad call."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from crossply.compose.function_messages import respond
from crossply.compose.wire_codec import decode_response, encode_request
from crossply.functions.failures import FunctionError, ServeError
from crossply.functions.server import FunctionServer, ServerSettings
from tests.support.function_servers import CROSSPLY, REQUEST, V1, V1BETA1, started
from tests.support.ports import free_port

STATUS = grpc.StatusCode


def behave(request):
    """A function controlled by its input."""
    match request.input:
        case {"do": "raise"}:
            raise ZeroDivisionError("division by zero")
        case {"do": "explain"}:
            raise FunctionError("the input makes no sense")
        case {"do": "recurse"}:
            return behave(request)
        case {"do": "hang"}:
            while True:
                pass
        case {"do": "hang stubbornly"}:
            while True:
                with contextlib.suppress(Exception):
                    time.sleep(0.01)
        case {"do": "sleep"}:
            time.sleep(0.5)
        case {"do": "answer with nonsense"}:
            return respond(request, context={"not": b"json"})
    return respond(request)


@pytest.fixture(scope="module")
def server():
    server = FunctionServer("test", behave, ServerSettings("127.0.0.1:0", call_limit=2.0))
    yield server
    server.stop()


@pytest.fixture
def channel(server):
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield channel


def asking(do):
    from crossply.compose.function_messages import Request

    return encode_request(Request(REQUEST.observed, input={"do": do}))


@pytest.mark.parametrize("method", [V1, V1BETA1])
def test_both_versions_of_the_protocol_are_served(channel, method):
    reply = channel.unary_unary(method)(encode_request(REQUEST), timeout=60)
    assert decode_response(reply).tag == REQUEST.tag


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (asking("raise"), STATUS.INTERNAL, "function test: ZeroDivisionError: division by zero"),
        (asking("explain"), STATUS.INTERNAL, "function test: the input makes no sense"),
        (asking("recurse"), STATUS.INTERNAL, "function test: RecursionError: maximum recursion depth"),
        (asking("hang"), STATUS.DEADLINE_EXCEEDED, "function test: still running after 2 s"),
        (asking("hang stubbornly"), STATUS.DEADLINE_EXCEEDED, "function test: still running after 2 s"),
        (
            asking("answer with nonsense"),
            STATUS.INTERNAL,
            "cannot encode RunFunctionResponse: a bytes is not",
        ),
        (b"\xff\xff", STATUS.INTERNAL, "function test: cannot decode RunFunctionRequest: a message ends"),
        (bytes(5 << 20), STATUS.RESOURCE_EXHAUSTED, "larger than max"),
    ],
    ids=["raise", "explain", "recurse", "hang", "stubborn", "nonsense", "damaged", "too large"],
)
def test_a_bad_call_is_refused_and_the_next_one_answered(channel, data, code, message):
    run = channel.unary_unary(V1)
    with pytest.raises(grpc.RpcError) as refused:
        run(data, timeout=20)
    assert refused.value.code() is code
    assert message in refused.value.details()
    assert decode_response(run(encode_request(REQUEST), timeout=60)).tag == REQUEST.tag


def test_a_call_that_hangs_does_not_hold_up_the_others(channel):
    run = channel.unary_unary(V1)
    hanging = [run.future(asking("hang"), timeout=90) for _ in range(2)]
    assert decode_response(run(encode_request(REQUEST), timeout=60)).tag == REQUEST.tag
    assert all(call.exception().code() is STATUS.DEADLINE_EXCEEDED for call in hanging)


def test_the_callers_own_deadline_ends_the_work(server, channel):
    with pytest.raises(grpc.RpcError):
        channel.unary_unary(V1)(asking("hang"), timeout=0.05)
    deadline = time.monotonic() + 60
    while server._limit.running() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server._limit.running() == 0


def test_an_unknown_method_is_unimplemented(channel):
    with pytest.raises(grpc.RpcError) as refused:
        channel.unary_unary("/apiextensions.fn.proto.v9.FunctionRunnerService/RunFunction")(b"", timeout=60)
    assert refused.value.code() is STATUS.UNIMPLEMENTED


def ask_reflection(channel, **request):
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    return next(stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(**request)])))


def test_reflection_lists_and_describes_the_services(channel):
    listed = ask_reflection(channel, list_services="").list_services_response.service
    names = {service.name for service in listed}
    assert {"apiextensions.fn.proto.v1.FunctionRunnerService", "grpc.health.v1.Health"} <= names
    for version in ("v1", "v1beta1"):
        symbol = f"apiextensions.fn.proto.{version}.FunctionRunnerService"
        response = ask_reflection(channel, file_containing_symbol=symbol)
        assert b"RunFunctionRequest" in response.file_descriptor_response.file_descriptor_proto[0]


@pytest.mark.parametrize("service", ["", "apiextensions.fn.proto.v1.FunctionRunnerService"])
def test_health_is_served(channel, service):
    check = health_pb2_grpc.HealthStub(channel).Check
    assert (
        check(health_pb2.HealthCheckRequest(service=service)).status == health_pb2.HealthCheckResponse.SERVING
    )


def test_a_port_in_use_is_an_error(server):
    with pytest.raises(ServeError, match="cannot listen for tcp connections at address"):
        FunctionServer("second", behave, ServerSettings(f"127.0.0.1:{server.port}"))


def test_a_running_call_finishes_when_the_server_is_stopped():
    server = FunctionServer("test", behave, ServerSettings("127.0.0.1:0"))
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        call = channel.unary_unary(V1).future(asking("sleep"), timeout=10)
        time.sleep(0.2)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        assert decode_response(call.result()).tag
        stopping.join()


def test_a_call_that_hangs_does_not_keep_the_server_from_stopping(monkeypatch):
    monkeypatch.setattr("crossply.functions.server.GRACE", 0.1)
    server = FunctionServer("test", behave, ServerSettings("127.0.0.1:0"))
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        call = channel.unary_unary(V1).future(asking("hang"), timeout=30)
        time.sleep(0.3)
        assert server._limit.running() == 1
        server.stop()
        assert call.exception() is not None
    deadline = time.monotonic() + 10
    while server._limit.running() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server._limit.running() == 0


def serve(*arguments, environment=None):
    command = [CROSSPLY, "function", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (
            ["auto-ready"],
            1,
            "no credentials provided - did you specify the Insecure or MTLSCertificates options?",
        ),
        (["auto-go", "--insecure"], 1, 'unknown function "auto-go"'),
        (
            ["auto-ready", "--tls-certs-dir", "/nowhere"],
            1,
            "open /nowhere/tls.key: no such file or directory",
        ),
        (["auto-ready", "--insecure", "--address", "300.0.0.1:1"], 1, 'at address "300.0.0.1:1"'),
        (["auto-ready", "--insecure", "--network", "carrier-pigeon"], 80, "carrier-pigeon"),
        (["auto-ready", "--insecure", "--max-recv-message-size", "0"], 1, "must be at least 1, not 0"),
        ([], 80, "<name>"),
    ],
    ids=["no credentials", "unknown", "no certificates", "bad address", "bad network", "no size", "no name"],
)
def test_errors_of_serving_are_reported_at_start(arguments, status, message):
    done = serve(*arguments)
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["auto-ready", "function-auto-ready"])
def test_the_command_serves_on_a_unix_socket_until_sigterm(tmp_path, name):
    path = str(tmp_path / "f.sock")
    command = [
        CROSSPLY,
        "function",
        "serve",
        name,
        "--insecure",
        "--network",
        "unix",
        "--address",
        path,
        "--debug",
    ]
    with started(command, path) as process, grpc.insecure_channel(f"unix:{path}") as channel:
        assert (
            decode_response(channel.unary_unary(V1)(encode_request(REQUEST), timeout=60)).tag == REQUEST.tag
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert b"bytes in" in process.stderr.read()


def test_a_larger_request_is_accepted_when_the_command_allows_it():
    address = f"127.0.0.1:{free_port()}"
    command = [CROSSPLY, "function", "serve", "auto-ready", "--insecure", "--address", address]
    from crossply.compose.function_messages import Request

    large = encode_request(Request(REQUEST.observed, context={"x": "y" * (5 << 20)}))
    unlimited = [("grpc.max_receive_message_length", -1)]
    command += ["--max-recv-message-size", "8"]
    with started(command, address), grpc.insecure_channel(address, unlimited) as channel:
        assert len(channel.unary_unary(V1)(large, timeout=60)) > 5 << 20
