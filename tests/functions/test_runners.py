"""Calls of functions: the response comes back, and every failure is an error with its reason."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import grpc
import pytest

from crossply.compose.function_messages import Response, Result, respond
from crossply.compose.wire_codec import decode_request, encode_response
from crossply.functions.failures import (
    FunctionCrashed,
    FunctionError,
    FunctionNotBound,
    FunctionReplyDamaged,
    FunctionReplyTooLarge,
    FunctionTimedOut,
    FunctionUnavailable,
)
from crossply.functions.function_set import Runners
from crossply.functions.in_process import InProcess
from crossply.functions.local_process import LocalProcess
from crossply.functions.remote import Remote
from crossply.kinds.composition_native_step import NATIVE_FUNCTION
from crossply.values.protobuf_struct import StructError
from tests.support.function_servers import CROSSPLY, REQUEST, make_certificates, serving, started
from tests.support.paths import ROOT
from tests.support.ports import free_port

ANSWER = Response(results=(Result(3, "hello"),), ttl=60)


def answer(data, context):
    request = decode_request(data)
    return encode_response(ANSWER._replace(tag=request.tag, desired=request.observed))


def refuse(code, text):
    def method(data, context):
        context.abort(code, text)

    return method


def call(address, timeout=5.0, **options):
    remote = Remote("f", address, **options)
    try:
        return remote(REQUEST, timeout)
    finally:
        remote.close()


def test_a_function_in_this_process_is_called():
    assert InProcess("f", lambda request: respond(request))(REQUEST, 1.0).tag is REQUEST


def test_an_exception_in_this_process_is_a_crash_with_its_text():
    with pytest.raises(FunctionCrashed, match='cannot run Function "f": ZeroDivisionError: division by zero'):
        InProcess("f", lambda request: 1 / 0)(REQUEST, 1.0)


def test_an_error_that_explains_itself_passes_unchanged():
    def function(request):
        raise StructError("explained")

    with pytest.raises(StructError, match=r"^explained$"):
        InProcess("f", function)(REQUEST, 1.0)


def test_a_function_behind_grpc_is_called():
    with serving(v1=answer) as address:
        response = call(address)
    assert response.results == ANSWER.results
    assert response.tag == REQUEST.tag
    assert response.desired.resources["r"].object == {"kind": "Thing", "spec": {"n": 5.0}}


@pytest.mark.parametrize(
    "methods",
    [{"v1beta1": answer}, {"v1": refuse(grpc.StatusCode.UNIMPLEMENTED, "later"), "v1beta1": answer}],
    ids=["no v1 service", "a v1 service that refuses"],
)
def test_a_function_that_does_not_know_v1_gets_the_same_bytes_as_v1beta1(methods):
    with serving(**methods) as address:
        assert call(address).tag == REQUEST.tag


@pytest.mark.parametrize(
    ("method", "kind", "message"),
    [
        (
            refuse(grpc.StatusCode.UNAVAILABLE, "not now"),
            FunctionUnavailable,
            'cannot run Function "f": rpc error: code = Unavailable desc = not now',
        ),
        (
            refuse(grpc.StatusCode.PERMISSION_DENIED, "no"),
            FunctionError,
            'cannot run Function "f": rpc error: code = PermissionDenied desc = no',
        ),
        (
            lambda data, context: bytes(5 << 20),
            FunctionReplyTooLarge,
            'cannot run Function "f": rpc error: code = ResourceExhausted desc = '
            "grpc: received message larger than max (5242880 vs. 4194304)",
        ),
        (
            lambda data, context: b"<html>",
            FunctionReplyDamaged,
            'cannot run Function "f": cannot decode RunFunctionResponse: a field has a damaged wire type',
        ),
        (
            lambda data, context: 1 / 0,
            FunctionError,
            'cannot run Function "f": rpc error: code = Unknown desc = Exception calling application: '
            "division by zero",
        ),
    ],
    ids=["unavailable", "denied", "too large", "garbage", "exception"],
)
def test_a_failure_is_reported_in_the_words_of_grpc(method, kind, message):
    with serving(v1=method) as address, pytest.raises(kind) as failed:
        call(address)
    assert type(failed.value) is kind
    assert str(failed.value) == message


def test_a_larger_limit_lets_a_larger_answer_through():
    padding = encode_response(Response(context={"x": "y" * (5 << 20)}))
    with serving(v1=lambda data, context: padding) as address:
        assert len(call(address, max_reply=6 << 20).context["x"]) == 5 << 20


def test_a_hanging_function_is_aborted_at_the_deadline():
    over = threading.Event()
    with serving(v1=lambda data, context: over.wait(30) and b"") as address:
        with pytest.raises(FunctionTimedOut) as failed:
            call(address, timeout=0.3)
        assert not over.is_set(), "the function was still at it"
        over.set()
    assert str(failed.value) == (
        'cannot run Function "f": rpc error: code = DeadlineExceeded desc = context deadline exceeded'
    )


def test_an_address_where_nothing_listens_is_named():
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(FunctionTimedOut) as failed:
        call(address, timeout=0.3)
    assert address in failed.value.hint


def test_a_function_that_comes_up_late_is_waited_for():
    address = f"127.0.0.1:{free_port()}"
    command = [CROSSPLY, "function", "serve", "auto-ready", "--insecure", "--address", address]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        assert call(address, timeout=30).tag == REQUEST.tag
    finally:
        process.terminate()
        process.wait(60)


def test_a_page_that_is_no_grpc_server_is_an_error():
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    with started(command, f"127.0.0.1:{port}"), pytest.raises(FunctionError):
        call(f"127.0.0.1:{port}", timeout=0.5)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    directory = tmp_path_factory.mktemp("certificates")
    make_certificates(directory)
    return directory


def test_mutual_tls_works_and_a_stranger_is_refused(certificates):
    address = f"localhost:{free_port()}"
    command = [CROSSPLY, "function", "serve", "auto-ready", "--tls-certs-dir", str(certificates / "server")]
    with started([*command, "--address", address], address):
        assert call(address, certificates=str(certificates / "client")).tag == REQUEST.tag
        with pytest.raises(FunctionError):
            call(address, timeout=0.5, certificates=str(certificates / "stranger"))
        with pytest.raises(FunctionError):
            call(address, timeout=0.5)


def test_a_server_with_the_certificate_of_another_host_is_refused(certificates):
    address = f"localhost:{free_port()}"
    command = [CROSSPLY, "function", "serve", "auto-ready", "--tls-certs-dir", str(certificates / "misnamed")]
    with started([*command, "--address", address], address), pytest.raises(FunctionError):
        call(address, timeout=1.0, certificates=str(certificates / "client"))


def test_certificates_that_are_missing_are_named(tmp_path):
    with pytest.raises(FunctionUnavailable, match=r"ca\.crt: no such file or directory"):
        call("127.0.0.1:1", certificates=str(tmp_path))


SERVE = f"{CROSSPLY} function serve auto-ready --insecure"


@pytest.mark.parametrize(
    "command",
    [f"{SERVE} --network unix --address {{socket}}", f"{SERVE} --address {{address}}"],
    ids=["unix socket", "loopback port"],
)
def test_a_local_process_is_started_called_and_stopped(command):
    runner = LocalProcess("f", command)
    assert runner(REQUEST, 30.0).tag == REQUEST.tag
    process = runner._started._process
    assert runner(REQUEST, 30.0).tag == REQUEST.tag
    runner.close()
    assert process.poll() is not None


CRASHER = """
import os, sys, grpc
from concurrent import futures
class Methods(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(die)
def die(data, context):
    print("out of luck", flush=True)
    os._exit(7)
server = grpc.server(futures.ThreadPoolExecutor(1), handlers=[Methods()])
server.add_insecure_port(os.environ["CROSSPLY_FUNCTION_ADDRESS"])
server.start()
server.wait_for_termination()
"""


def test_a_process_that_dies_in_a_call_is_reported_with_its_last_words(tmp_path):
    script = tmp_path / "crasher.py"
    script.write_text(CRASHER)
    runner = LocalProcess("f", f"{sys.executable} {script}")
    for _ in range(2):  # the second call restarts it
        with pytest.raises(FunctionCrashed) as failed:
            runner(REQUEST, 30.0)
        assert 'cannot run Function "f": its process ended with exit status 7: out of luck' in str(
            failed.value
        )
    runner.close()


@pytest.mark.parametrize(
    ("command", "kind", "message"),
    [
        ("sh -c 'echo no license >&2; exit 3'", FunctionCrashed, "ended with exit status 3: no license"),
        ("sh -c 'kill -9 $$'", FunctionCrashed, "ended with signal 9"),
        ("sleep 60", FunctionTimedOut, "does not listen on 127.0.0.1:"),
        ("crossply-no-such-command", FunctionUnavailable, "No such file or directory"),
        ("unclosed 'quote", FunctionUnavailable, "No closing quotation"),
    ],
)
def test_a_process_that_never_serves_is_reported(command, kind, message):
    runner = LocalProcess("f", command)
    with pytest.raises(kind) as failed:
        runner(REQUEST, 0.5)
    assert message in str(failed.value)
    runner.close()


def test_closing_stops_the_children_of_the_process_too(tmp_path):
    runner = LocalProcess("f", f"sh -c 'sleep 300 & echo $! > {tmp_path}/child; wait'")
    with pytest.raises(FunctionTimedOut):
        runner(REQUEST, 0.5)
    child = int((tmp_path / "child").read_text())
    runner.close()
    for _ in range(100):
        if not alive(child):
            return
        time.sleep(0.02)
    raise AssertionError("the child outlived its function")


KILLED = """
import sys
from tests.support.function_servers import REQUEST
from crossply.functions.local_process import LocalProcess
runner = LocalProcess("f", sys.argv[1])
runner(REQUEST, 60.0)
print(runner._started._process.pid, flush=True)
sys.stdin.read()
"""


def test_a_local_process_ends_when_we_are_killed():
    command = [sys.executable, "-c", KILLED, f"{SERVE} --address {{address}}"]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=here
    ) as parent:
        process = int(parent.stdout.readline())
        assert alive(process)
        parent.kill()
    for _ in range(500):
        if not alive(process):
            return
        time.sleep(0.02)
    raise AssertionError("the function outlived us")


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_functions_are_called_by_name_and_bound_when_first_used():
    functions = [
        {"metadata": {"name": "ready"}, "spec": {"package": "x/crossplane-contrib/function-auto-ready:v1"}},
        {"metadata": {"name": "unused"}, "spec": {"package": "x/function-unknown:v1"}},
    ]
    with Runners(functions, "builtin") as runners:
        assert runners.call("ready", REQUEST, 1.0).desired == REQUEST.desired
        with pytest.raises(
            FunctionNotBound, match='unknown function "other" - is it listed in the render input'
        ):
            runners.call("other", REQUEST, 1.0)
        with pytest.raises(FunctionNotBound, match="no built-in function stands for"):
            runners.call("unused", REQUEST, 1.0)


def test_the_native_engine_needs_no_function_object():
    with Runners([]) as runners:
        assert runners.call(NATIVE_FUNCTION, REQUEST, 1.0) is not None


def test_built_in_functions_do_not_import_grpc():
    program = (
        "import sys\n"
        "from crossply.functions.function_set import Runners\n"
        "from crossply.compose.function_messages import Request, State, Resource\n"
        "f = {'metadata': {'name': 'f'}, 'spec': {'package': 'crossplane-contrib/function-auto-ready'}}\n"
        "with Runners([f]) as r: r.call('f', Request(State(Resource({'kind': 'X'}))), 1.0)\n"
        "print([m for m in ('grpc', 'google.protobuf', 'asyncio', 'hashlib') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ)
    )
    assert done.stdout == "[]\n", done.stderr
