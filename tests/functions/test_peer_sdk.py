"""The published Python SDK as an unmodified peer: its functions run under ours, its client calls ours.

The SDK pins its own versions of gRPC and protobuf, so it lives in an environment of its own, created at
the first run and cached.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from crossply.compose.function_messages import READY_TRUE, Request, Resource, State, respond
from crossply.functions.failures import FunctionError
from crossply.functions.local_process import LocalProcess
from crossply.functions.remote import Remote
from crossply.values.protobuf_struct import from_wire
from tests.support.function_servers import CROSSPLY, make_certificates, started
from tests.support.ports import free_port

HERE = Path(__file__).parent

XR = {"apiVersion": "example.org/v1", "kind": "XGreeting", "spec": {"name": "you", "times": 5, "price": 2.5}}
REQUEST = Request(
    State(Resource(XR)), State(None, {"before": Resource({"kind": "Kept"})}), context={"k": 1.0}
)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    directory = tmp_path_factory.mktemp("certificates")
    make_certificates(directory)
    return directory


def check_greeting(response):
    assert response.tag == REQUEST.tag
    assert response.context == {"k": 1.0}
    assert response.results[0].message == "hello you"
    assert response.ttl == respond(REQUEST).ttl
    greeting = response.desired.resources["greeting"]
    assert greeting.ready == READY_TRUE
    # Through doubles and back: a whole number is an integer again.
    spec = from_wire(greeting.object)["spec"]
    assert spec == {"text": "hello you", "times": 6, "kept": XR["spec"]}
    assert type(spec["times"]) is int
    assert response.desired.resources["before"].object == {"kind": "Kept"}


@pytest.mark.parametrize("place", ["{address}", "unix:{socket}"])
def test_an_sdk_function_runs_as_a_local_process(sdk_python, place):
    runner = LocalProcess("greeter", f"{sdk_python} {HERE}/sdk/greeter.py {place}")
    try:
        check_greeting(runner(REQUEST, 30.0))
    finally:
        runner.close()


def test_an_sdk_function_runs_where_it_already_serves(sdk_python):
    address = f"127.0.0.1:{free_port()}"
    with started([sdk_python, f"{HERE}/sdk/greeter.py", address], address):
        remote = Remote("greeter", address)
        check_greeting(remote(REQUEST, 10.0))
        exploding = Request(State(Resource({"spec": {"explode": True}})))
        with pytest.raises(
            FunctionError, match="code = Unknown desc = Unexpected <class 'RuntimeError'>: as asked"
        ):
            remote(exploding, 10.0)
        check_greeting(remote(REQUEST, 10.0))
        remote.close()


def test_an_sdk_function_is_called_over_mutual_tls(sdk_python, certificates):
    address = f"localhost:{free_port()}"
    with started([sdk_python, f"{HERE}/sdk/greeter.py", address, str(certificates / "server")], address):
        remote = Remote("greeter", address, str(certificates / "client"))
        check_greeting(remote(REQUEST, 10.0))
        remote.close()


CALL = {
    "meta": {"tag": "t"},
    "observed": {"composite": {"resource": XR}},
    "desired": {"resources": {"r": {"resource": {"kind": "Thing", "spec": {"n": 5}}}}},
    "context": {"k": 1},
}


def call_with_the_sdk(python, *arguments):
    command = [python, f"{HERE}/sdk/caller.py", *arguments]
    done = subprocess.run(command, input=json.dumps(CALL), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def serve(address, *arguments):
    return [CROSSPLY, "function", "serve", "auto-ready", "--address", address, *arguments]


def check_answer(answer):
    assert answer["meta"] == {"tag": "t", "ttl": "60s"}
    assert answer["desired"]["resources"]["r"]["resource"] == {"kind": "Thing", "spec": {"n": 5}}
    assert answer["context"] == {"k": 1}


def test_the_sdks_client_calls_a_served_function(sdk_python):
    address = f"127.0.0.1:{free_port()}"
    with started(serve(address, "--insecure"), address):
        check_answer(call_with_the_sdk(sdk_python, address))


def test_the_sdks_client_calls_a_served_function_over_mutual_tls(sdk_python, certificates):
    address = f"localhost:{free_port()}"
    with started(serve(address, "--tls-certs-dir", str(certificates / "server")), address):
        check_answer(call_with_the_sdk(sdk_python, address, str(certificates / "client")))


def without_watch_resources(messages):
    """The messages without what only our protocol has: resources to watch."""
    package = next(iter(messages)).rpartition(".")[0]
    requirements = f"{package}.Requirements"
    assert messages.pop(f"{package}.ResourceRef")
    fields = [field for field in messages[requirements] if field[0] != "watch_resources"]
    assert len(fields) + 1 == len(messages[requirements])
    return {**messages, requirements: fields}


def test_the_sdk_describes_the_same_messages(sdk_python):
    """Field by field: names, numbers, types and presence of every message in both versions."""
    program = (
        "import json, sys\n"
        "from importlib import import_module\n"
        "module = import_module(sys.argv[1])\n"
        "def field(f): return f.name, f.number, f.type, f.has_presence, f.is_repeated\n"
        "def fields(m): return sorted(map(field, m.fields))\n"
        "found = {m.full_name: fields(m) for m in module.DESCRIPTOR.message_types_by_name.values()}\n"
        "found |= {e.full_name: sorted((v.name, v.number) for v in e.values)\n"
        "          for e in module.DESCRIPTOR.enum_types_by_name.values()}\n"
        "print(json.dumps(found, sort_keys=True))\n"
    )
    for version in ("v1", "v1beta1"):
        pairs = ((sdk_python, "crossplane.function.proto"), (sys.executable, "crossply.functions.proto"))
        described = [
            subprocess.run(
                [python, "-c", program, f"{room}.{version}.run_function_pb2"], capture_output=True, text=True
            )
            for python, room in pairs
        ]
        assert described[0].returncode == 0, described[0].stderr
        assert without_watch_resources(json.loads(described[1].stdout)) == json.loads(described[0].stdout)


COMPOSITION = """
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: greetings}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XGreeting}
  mode: Pipeline
  pipeline:
  - step: greet
    functionRef: {name: greeter}
  - step: ready
    functionRef: {name: auto-ready}
"""
COMPOSITE = """
apiVersion: example.org/v1
kind: XGreeting
metadata: {name: you}
spec: {name: you, times: 5, price: 2.5}
"""
FUNCTIONS = """
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata:
  name: greeter
  annotations: %s
spec: {package: registry.example.org/acme/function-greeter:v1}
---
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: auto-ready}
spec: {package: registry.example.org/crossplane-contrib/function-auto-ready:v1}
"""


def render(directory, annotations):
    files = {
        "xr.yaml": COMPOSITE,
        "composition.yaml": COMPOSITION,
        "functions.yaml": FUNCTIONS % json.dumps(annotations),
    }
    for name, text in files.items():
        (directory / name).write_text(text)
    command = [CROSSPLY, "render", *files, "--include-function-results"]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=60)


def check_rendered(done):
    assert done.returncode == 0, done.stderr
    documents = list(yaml.safe_load_all(done.stdout))
    greeting = next(document for document in documents if document["kind"] == "Greeting")
    assert (greeting["spec"]["text"], greeting["spec"]["times"]) == ("hello you", 6)
    # 5 stays 5, though it travelled as a double.
    assert type(greeting["spec"]["kept"]["times"]) is int
    assert any(document.get("message", "").endswith("hello you") for document in documents)


def test_render_runs_an_sdk_function_as_a_process(sdk_python, tmp_path):
    command = f"{sdk_python} {HERE}/sdk/greeter.py unix:{{socket}}"
    check_rendered(render(tmp_path, {"crossply.dev/runtime": "process", "crossply.dev/command": command}))


def test_render_calls_an_sdk_function_that_is_running(sdk_python, tmp_path):
    address = f"127.0.0.1:{free_port()}"
    development = {
        "render.crossplane.io/runtime": "Development",
        "render.crossplane.io/runtime-development-target": address,
    }
    with started([sdk_python, f"{HERE}/sdk/greeter.py", address], address):
        check_rendered(render(tmp_path, development))


def test_render_reports_a_process_that_crashes(tmp_path):
    annotations = {
        "crossply.dev/runtime": "process",
        "crossply.dev/command": "sh -c 'echo no license; exit 3'",
    }
    done = render(tmp_path, annotations)
    assert done.returncode == 1
    assert 'cannot run Function "greeter": its process ended with exit status 3: no license' in done.stderr
    assert "Traceback" not in done.stderr
