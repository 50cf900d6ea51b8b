"""Observability: metrics, traces, logs, calls of functions. No secret is in any of them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import pathlib
import socket
import time
import urllib.request
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families as parse

from crossply.compose.function_messages import (
    READY_TRUE,
    Request,
    Requirements,
    Resource,
    ResourceSelector,
    Response,
    State,
    respond,
)
from crossply.compose.wire_codec import decode_request, encode_response
from crossply.control.kinds import OPERATION
from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.values import Object
from tests.support.control_plane import running
from tests.support.e2e.pipelines import calling, served
from tests.support.e2e.scenario import EVENT, FUNCTION, SECRET, Scenario, condition
from tests.support.function_servers import serving
from tests.support.otlp_receiver import Received, attributes, receiving
from tests.support.patience import PATIENCE
from tests.support.pipeline_inspector import Emitted, Inspector, inspecting, socket_path
from tests.support.ports import free_port

pytestmark = [
    pytest.mark.xdist_group("e2e"),
    pytest.mark.embedded_only(
        "it needs a control plane with flags of its own, and a cluster has one already"
    ),
]

READY = condition("Ready", "True", "Available")
FAILED = condition("Synced", "False", "ReconcileError")
CANARY, NUMBER = "canary-7f3a9b", 7391846250
"""The values of every secret here; none may be logged."""
ONCE = {"apiVersion": OPERATION.api_version, "kind": OPERATION.kind}
HIDDEN = {"token": base64.b64encode(CANARY.encode()).decode()}


class Observed(NamedTuple):
    """A control plane with all telemetry enabled."""

    directory: pathlib.Path
    port: int
    collector: Received
    inspector: Inspector

    @contextlib.asynccontextmanager
    async def scenario(self, name: str) -> AsyncIterator[Scenario]:
        async with Client(load_config(str(self.directory / "kubeconfig"))) as client:
            yield await Scenario.begin(client, name)

    def log(self) -> list[Object]:
        lines = (self.directory / "control-plane.err").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def logged(self, **fields: str) -> Object:
        """The first line with these fields, once it is there: a failure is in the status before the log."""
        end = time.monotonic() + PATIENCE
        while True:
            for line in self.log():
                if fields.items() <= line.items():
                    return line
            assert time.monotonic() < end, f"nothing is logged with {fields}"
            time.sleep(0.05)

    def page(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as reply:
            return reply.read().decode()

    def figure(self, name: str, /, **labels: str) -> float:
        """The sum of the samples with these labels."""
        samples = [
            sample for family in parse(self.page()) for sample in family.samples if sample.name == name
        ]
        return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())

    def counted(self, name: str, /, **labels: str) -> float:
        """The same, once there are any: a reconcile is counted when it has ended."""
        end = time.monotonic() + PATIENCE
        while not (value := self.figure(name, **labels)):
            assert time.monotonic() < end, f"never counted: {name} {labels}"
            time.sleep(0.05)
        return value


@pytest.fixture(scope="module")
def observed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("observed")
    flags = ("--log-format", "json", "--debug", "--metrics-port", str(port := free_port()))
    with (
        socket_path() as path,
        inspecting(path) as inspector,
        receiving() as collector,
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        environment.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        flags += ("--pipeline-inspector-socket", path, "--enable-operations")
        with running(directory, "up", "--in-memory", "--data", str(directory), *flags):
            yield Observed(directory, port, collector, inspector)


async def apply(s: Scenario, name: str, **spec: Any) -> None:
    body = {"apiVersion": s.api_version, "kind": s.xrs.kind, "metadata": {"name": name}, "spec": spec}
    await s.client.apply(s.xrs, body, "test")


async def test_metrics_count_reconciles_calls_of_functions_and_requests(observed):
    async with observed.scenario("counting") as s:
        await s.offer()
        await s.compose(s.config_map())
        await apply(s, "counted", size="3")
        await s.until(s.xrs, "counted", READY)
    controller = "composite/xdbs.counting.example.org"
    assert observed.counted("controller_runtime_reconcile_total", controller=controller, result="success")
    assert observed.figure("engine_controllers_started_total", controller=controller) == 1
    assert observed.figure("workqueue_adds_total", name=controller)
    assert observed.figure("circuit_breaker_events_total", controller=controller, result="Allowed")
    calls = {"function_name": "function-patch-and-transform", "grpc_code": "OK", "result_severity": "Normal"}
    assert observed.figure("function_run_function_response_total", **calls, grpc_target="in-process")
    assert observed.figure("function_run_function_seconds_count", **calls)
    assert observed.figure("rest_client_requests_total", method="PATCH", code="200")
    assert observed.figure("engine_watches_started_total", type="configmaps") == 1


async def test_a_trace_leads_from_the_composite_resource_to_the_function_that_is_called(observed):
    traces: list[str] = []

    def answer(data: bytes, context: Any) -> bytes:
        traces.extend(value for key, value in context.invocation_metadata() if key == "traceparent")
        return encode_response(respond(decode_request(data)))

    async with observed.scenario("tracing") as s:
        with serving(v1=answer) as address:
            await s.offer()
            await s.compose(s.config_map(), await calling(s, address))
            await apply(s, "traced", size="3")
            await s.until(s.xrs, "traced", READY)
    spans = observed.collector.until(
        lambda spans: {span.span_id: span for span in spans} if _is_traced(spans) else None
    )
    _, trace, called, _ = traces[0].split("-")
    call = spans[bytes.fromhex(called)]
    step = spans[call.parent_span_id]
    run = spans[step.parent_span_id]
    assert (call.name, step.name, run.name) == ("RunFunction tracing-tell", "step tell", "reconcile XDb")
    assert attributes(run)["crossply.object.name"] == "traced"
    assert run.trace_id.hex() == trace
    beside = [span.name for span in spans.values() if span.parent_span_id == run.span_id]
    assert set(beside) == {"step compose", "step tell"}
    lines = [line for line in observed.log() if line.get("trace_id") == trace]
    assert {(line["xr"], line["run"]) for line in lines} == {
        ("XDb traced", attributes(run)["crossply.run.id"])
    }


async def test_a_pipeline_inspector_gets_the_calls_of_composite_resources_and_operations(observed):
    def answer(request: Request) -> Response:
        selector = ResourceSelector("v1", "ConfigMap", match_labels={"inspected": "true"})
        return respond(request, requirements=Requirements({"maps": selector}))

    async with observed.scenario("inspecting") as s:
        with served(answer) as address:
            await s.offer()
            await s.compose(s.config_map(), await calling(s, address), name="inspected")
            await apply(s, "seen", size="3")
            xr = await s.until(s.xrs, "seen", READY)
            await s.until(FUNCTION, "inspecting-tell", condition("Healthy", "True"))
            pipeline = {"mode": "Pipeline", "pipeline": [await calling(s, address)]}
            operation = {**ONCE, "metadata": {"name": "inspected"}, "spec": pipeline}
            await s.client.create(OPERATION, operation)
            operation = await s.until(OPERATION, "inspected", condition("Succeeded", "True"))
    received = observed.inspector.until(lambda received: _of_operation(received) and received)
    composed = [one for one in received if one.meta.composition_meta.composite_resource_name == "seen"]
    # The function may not be there yet for an earlier run, and a later one knows the requirements.
    trace = next(one.meta.trace_id for one in composed if one.meta.iteration == 1)
    first = [one for one in composed if one.meta.trace_id == trace]
    steps = [(one.method, one.meta.step_index, one.meta.step_name, one.meta.iteration) for one in first]
    assert steps == [
        (method, *call)
        for call in ((0, "compose", 0), (1, "tell", 0), (1, "tell", 1))
        for method in ("request", "response")
    ]
    assert first[0].meta.composition_meta.composition_name == "inspected"
    assert first[0].meta.composition_meta.composite_resource_uid == xr["metadata"]["uid"]
    assert first[2].meta.function_name == "inspecting-tell"
    assert first[2].body["desired"] == first[1].body["desired"]
    assert "maps" in first[4].body["requiredResources"]
    assert _of_operation(received)[0].meta.operation_meta.operation_uid == operation["metadata"]["uid"]


def _of_operation(received: list[Emitted]) -> list[Emitted]:
    return [one for one in received if one.meta.operation_meta.operation_name == "inspected"]


def _is_traced(spans: list[Any]) -> bool:
    """A run is sent when it ends, after what is within it."""
    called = {span.trace_id for span in spans if span.name == "RunFunction tracing-tell"}
    return any(span.trace_id in called for span in spans if span.name == "reconcile XDb")


async def test_a_failure_is_logged_with_the_composite_resource_and_its_run(observed):
    async with observed.scenario("failing") as s:
        await s.offer()
        await s.compose({"step": "missing", "functionRef": {"name": "not-installed"}})
        await apply(s, "broken")
        await s.until(s.xrs, "broken", lambda xr: "not-installed" in str(xr.get("status")))
    line = observed.logged(xr="XDb broken", code="CP-316")
    assert (line["level"], line["msg"]) == ("warning", "reconcile failed")
    assert line["controller"] == "composite/xdbs.failing.example.org"
    assert "not-installed" in line["error"]
    assert line["run"]


async def test_a_function_that_fails_for_many_composite_resources_does_not_flood_the_log(observed):
    """Promise: log-flood."""
    many = 150

    async with observed.scenario("flooding") as s:
        await s.offer()
        await s.compose({"step": "missing", "functionRef": {"name": "not-installed"}})
        await asyncio.gather(*(apply(s, f"x{index}") for index in range(many)))
        for index in range(many):
            await s.until(s.xrs, f"x{index}", FAILED)
    controller = "composite/xdbs.flooding.example.org"
    failures = [line for line in observed.log() if line.get("controller") == controller and "code" in line]
    assert observed.figure("controller_runtime_reconcile_errors_total", controller=controller) >= many
    assert 0 < len(failures) < many / 2
    assert observed.figure("crossply_log_lines_held_back_total", level="warning") > many / 2


async def test_no_secret_value_is_logged_anywhere(observed):
    """Promise: secret-logs: logs at the finest level, traces, metrics, events, conditions, inspector."""

    def answer(request: Request):
        assert request.credentials["keys"]["token"] == CANARY.encode()
        xr = request.observed.composite.object
        # A number is no value for a Secret: the server refuses it, and names the field.
        value = CANARY if xr["spec"]["mode"] == "good" else NUMBER
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "canary"}}
        composed = Resource({**secret, "stringData": {"key": value}}, ready=READY_TRUE)
        composite = Resource({"status": {}}, connection_details={"password": CANARY.encode()})
        return respond(request, desired=State(composite, {"secret": composed}))

    async with observed.scenario("canary") as s:
        await s.client.create(SECRET, {"metadata": {"name": "keys", "namespace": s.id}, "data": HIDDEN})
        source = {"name": "keys", "source": "Secret", "secretRef": {"namespace": s.id, "name": "keys"}}
        with served(answer) as address:
            await s.offer(connectionSecretKeys=["password"])
            await s.compose(await calling(s, address, credentials=[source]))
            to = {"namespace": s.id, "name": "out"}
            await apply(s, "kept", mode="good", writeConnectionSecretToRef=to)
            await s.until(s.xrs, "kept", READY)
            published = await s.until(SECRET, "out", lambda secret: secret.get("data"))
            assert published["data"] == {"password": HIDDEN["token"]}
            await apply(s, "kept", mode="bad", writeConnectionSecretToRef=to)
            failed = await s.until(s.xrs, "kept", FAILED)
            # The function must not be called when it is gone.
            await s.client.delete(s.xrs, "kept")
            await s.until_gone(s.xrs, "kept")
        texts = [str(failed).encode(), *(await s.client.list(EVENT)).items]
        texts += [str(span).encode() for span in observed.collector.spans]
        inspected = observed.inspector.until(
            lambda received: [one for one in received if one.meta.function_name == "canary-tell"]
        )
        texts += [str(one).encode() for one in inspected]
        log = (observed.directory / "control-plane.err").read_bytes()
        assert b'"xr":"XDb kept"' in log
        for text in (*texts, log, observed.page().encode()):
            for canary in (CANARY, HIDDEN["token"], str(NUMBER)):
                assert canary.encode() not in text, text


def test_missing_metrics_and_traces_are_no_reason_not_to_start(tmp_path, monkeypatch):
    """A port in use, and an unsupported protocol for traces: both are logged, as logfmt."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with running(tmp_path, "up", "--in-memory", "--data", str(tmp_path), "--metrics-port", str(port)):
            log = (tmp_path / "control-plane.err").read_text()
    assert f'level=warning logger=crossply.control msg="metrics are not served on port {port}: ' in log
    assert 'msg="traces are not sent: the protocol grpc is not offered: use http/protobuf"' in log
