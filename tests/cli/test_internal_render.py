"""The engine's wire format, spoken with real processes: `internal render` and `function serve`."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess

import pytest

from crossply.functions.proto.render.v1alpha1.render_pb2 import RenderRequest, RenderResponse
from crossply.functions.proto.v1.run_function_pb2 import RunFunctionRequest, RunFunctionResponse
from tests.support.cli.render_bench import (
    CONFIG_MAP,
    CROSSPLY,
    XR,
    Bench,
    composition,
    config_map_step,
    eventually,
    patch,
    resources,
    serving,
    step,
    table,
    template,
)
from tests.support.ports import free_port


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture(scope="module")
def patch_and_transform():
    """The address of a served patch-and-transform."""
    with served("patch-and-transform") as address:
        yield address


@contextlib.contextmanager
def served(name):
    address = f"127.0.0.1:{free_port()}"
    command = [CROSSPLY, "function", "serve", name, "--insecure", "--address", address]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        eventually(lambda: accepts(address) or process.poll() is not None)
        try:
            yield address
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(15)


def accepts(address):
    host, port = address.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def request_for(spec, functions, xr=XR, **more):
    request = RenderRequest()
    composite_request = request.composite
    composite_request.composite_resource.update(xr)
    composite_request.composition.update(spec)
    for name, address in functions.items():
        composite_request.functions.add(name=name, address=address)
    for field, objects in more.items():
        for obj in objects:
            getattr(composite_request, field).add().update(obj)
    return request


def exchange(bench, request, *words):
    """Run the engine; return its exit code, its response and its stderr."""
    data = request if isinstance(request, bytes) else request.SerializeToString()
    done = bench.run(*words, stdin=data, command=("internal", "render"))
    response = RenderResponse()
    response.ParseFromString(done.stdout)
    err = done.stderr.decode()
    assert "Traceback" not in err
    assert "internal error" not in err
    return done.returncode, response, err


def test_a_rendering_is_answered_with_everything_that_would_be_written(bench, patch_and_transform) -> None:
    request = request_for(composition(config_map_step()), {"pt": patch_and_transform})
    code, response, err = exchange(bench, request)
    assert (code, err) == (0, "")
    assert response.HasField("meta")
    out = response.composite
    assert out.composite_resource["metadata"]["name"] == "app"
    assert [obj["data"]["size"] for obj in out.composed_resources] == ["3"]
    assert [(event.type, event.reason, event.message) for event in out.events] == [
        ("Normal", "SelectComposition", "Successfully selected composition: app"),
        ("Normal", "ComposeResources", 'Composed resource "cm" is not yet ready'),
    ]


def test_the_engine_writes_the_output_of_the_command(bench, patch_and_transform) -> None:
    request = request_for(composition(config_map_step()), {"pt": patch_and_transform})
    _, response, _ = exchange(bench, request)
    xr, config_map = bench.render()
    assert same(response.composite.composite_resource) == xr
    assert same(response.composite.composed_resources[0]) == config_map


def same(struct):
    from google.protobuf.json_format import MessageToDict

    return MessageToDict(struct)


def test_resources_no_longer_desired_are_reported_as_deleted(bench) -> None:
    old = {**CONFIG_MAP, "metadata": {"name": "old", "namespace": "default"}}
    old["metadata"]["annotations"] = {"crossplane.io/composition-resource-name": "old"}
    owned = {"uid": "u", "controller": True, "apiVersion": "example.org/v1", "kind": "XApp", "name": "app"}
    old["metadata"]["ownerReferences"] = [owned]
    xr = {**XR, "metadata": {**XR["metadata"], "uid": "u"}}
    code, response, _ = exchange(bench, request_for(composition(), {}, xr=xr, observed_resources=[old]))
    assert code == 0
    assert [obj["metadata"]["name"] for obj in response.composite.deleted_resources] == ["old"]


def test_a_fatal_result_exits_3_and_reports_the_known_state(bench) -> None:
    """A caller reads the requirements, provides them and calls once more."""

    def answer(data, context):
        request = RunFunctionRequest.FromString(data)
        reply = RunFunctionResponse()
        reply.requirements.resources["env"].api_version = "example.org/v1"
        reply.requirements.resources["env"].kind = "Env"
        reply.requirements.resources["env"].match_labels.labels["a"] = "b"
        reply.requirements.schemas["cm"].api_version = "v1"
        reply.requirements.schemas["cm"].kind = "ConfigMap"
        items = request.required_resources["env"].items if "env" in request.required_resources else None
        if items is not None and not items:
            reply.results.add(severity=1, message="no env")
        elif items:
            reply.desired.resources["cm"].resource.update(CONFIG_MAP)
        return reply.SerializeToString()

    env = {"apiVersion": "example.org/v1", "kind": "Env", "metadata": {"name": "e", "labels": {"a": "b"}}}
    with serving(answer) as address:
        code, response, err = exchange(bench, request_for(composition(step()), {"pt": address}))
        retried = exchange(bench, request_for(composition(step()), {"pt": address}, required_resources=[env]))
    assert code == 3
    sentence = 'cannot compose resources: pipeline step "pt" returned a fatal result: no env'
    assert err.splitlines()[-1] == f"crossply: error: cannot render composite resource: {sentence}"
    out = response.composite
    assert [same(selector) for selector in out.required_resources] == [
        {"apiVersion": "example.org/v1", "kind": "Env", "matchLabels": {"labels": {"a": "b"}}}
    ]
    assert [same(selector) for selector in out.required_schemas] == [
        {"apiVersion": "v1", "kind": "ConfigMap"}
    ]
    conditions = {c["type"]: c for c in same(out.composite_resource)["status"]["conditions"]}
    assert (conditions["Synced"]["reason"], conditions["Synced"]["message"]) == ("ReconcileError", sentence)
    assert "Ready" not in conditions
    assert out.events[-1].message == sentence
    assert retried[0] == 0
    assert len(retried[1].composite.composed_resources) == 1


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            composition(step()),
            'step "pt": unknown function "pt" - is it listed in the render input?',
        ),
        (
            {**composition(), "spec": {"pipeline": 5}},
            "cannot convert composition from protobuf: spec.pipeline: ",
        ),
    ],
)
def test_any_other_failure_exits_1_and_writes_nothing(bench, spec, sentence) -> None:
    code, response, err = exchange(bench, request_for(spec, {}))
    assert (code, response.ByteSize()) == (1, 0)
    assert sentence in err.splitlines()[-1]


def test_a_function_that_is_down_exits_1_when_the_time_is_over(bench) -> None:
    request = request_for(composition(step()), {"pt": "127.0.0.1:1"})
    code, response, err = exchange(bench, request, "--timeout=500ms")
    assert (code, response.ByteSize()) == (1, 0)
    assert "rpc error: code = " in err


ONE_OF = "render request must set exactly one of: composite, operation, cron_operation, watch_operation"


@table(
    "data sentence",
    ("nothing", b"", ONE_OF),
    ("no input", b"\x0a\x00", ONE_OF),
    ("two inputs", b"\x12\x00\x1a\x00", ONE_OF),
    ("garbage", b"\xff" * 100, "cannot unmarshal render request: "),
    ("half a message", b"\x12\x7f\x0a", "cannot unmarshal render request: "),
)
def test_a_bad_request_exits_1(bench, data, sentence) -> None:
    code, _, err = exchange(bench, data)
    assert code == 1
    assert sentence in err.splitlines()[-1]


def test_objects_may_nest_deeper_than_protobuf_for_python_reads(bench) -> None:
    deep: dict = {}
    for _ in range(200):
        deep = {"a": deep}
    xr = {**XR, "spec": deep}
    request = request_for(composition(), {}, xr=xr)
    done = bench.run(stdin=request.SerializeToString(), command=("internal", "render"))
    assert (done.returncode, done.stderr) == (0, b"")


def test_crossplane_finds_integers_as_it_sent_them(bench, patch_and_transform) -> None:
    spec = composition(step(input=resources(template("cm", patch("spec.size", "spec.size")))))
    _, response, _ = exchange(bench, request_for(spec, {"pt": patch_and_transform}))
    assert response.composite.composed_resources[0]["spec"]["size"] == 3.0


def test_the_engine_does_not_wait_for_a_function_that_no_step_uses(bench) -> None:
    code, _, _ = exchange(bench, request_for(composition(), {"unused": "127.0.0.1:1"}))
    assert code == 0


def test_credentials_reach_the_step_that_names_them(bench) -> None:
    received_credentials = []

    def answer(data, context):
        received_credentials.append(RunFunctionRequest.FromString(data).credentials)
        return b""

    credential = {"name": "c", "source": "Secret", "secretRef": {"namespace": "n", "name": "s"}}
    secret = {"metadata": {"namespace": "n", "name": "s"}, "data": {"key": "aGk="}}
    with serving(answer) as address:
        spec = composition(step(credentials=[credential]), step("other"))
        code, _, _ = exchange(bench, request_for(spec, {"pt": address}, credentials=[secret]))
    assert code == 0
    assert [sorted(credentials) for credentials in received_credentials] == [["c"], []]
    assert received_credentials[0]["c"].credential_data.data["key"] == b"hi"
