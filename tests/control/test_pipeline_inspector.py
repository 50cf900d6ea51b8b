"""Calls of functions as a pipeline inspector gets them, and runs that it cannot disturb."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections.abc import Iterator

import pytest

from crossply.compose.function_messages import Request, Resource, Response, State, respond
from crossply.control.calls.pipeline_inspector import MOST_WAITING, PipelineInspector
from crossply.control.calls.runner_protocol import Answer
from crossply.functions.failures import FunctionUnavailable
from crossply.kinds.composition import Step
from crossply.record.control_plane_metrics import INSPECTOR_ERRORS
from tests.support.patience import PATIENCE
from tests.support.pipeline_inspector import inspecting, socket_path

STEPS = (Step("first", "function-a"), Step("second", "function-b"))
XR = {
    "apiVersion": "example.org/v1",
    "kind": "Db",
    "metadata": {"name": "orders", "namespace": "team", "uid": "u-1"},
    "spec": {"size": 3.0},
}
REQUEST = Request(State(Resource(XR)))
REDACTED = base64.b64encode(b"**REDACTED**").decode()


@contextlib.contextmanager
def sending(socket: str) -> Iterator[PipelineInspector]:
    inspector = PipelineInspector(socket)
    try:
        yield inspector
    finally:
        inspector.stop()


async def answering(response: Response) -> Answer:
    return Answer(response)


async def failing() -> Answer:
    raise FunctionUnavailable("nobody answers at function-b")


def lost(function: str) -> float:
    return sum(INSPECTOR_ERRORS.of(function, kind).value for kind in ("request", "response"))


async def test_an_inspector_gets_every_call_with_its_step_and_outcome():
    with socket_path() as socket, inspecting(socket) as server, sending(socket) as inspector:
        run = inspector.begin_composition("dbs", STEPS)
        for _ in range(2):
            await run.inspect(STEPS[0], REQUEST, answering(respond(REQUEST)))
        with pytest.raises(FunctionUnavailable):
            await run.inspect(STEPS[1], REQUEST, failing())
        received = server.until(lambda received: len(received) == 6 and received)
    calls = [(one.method, one.meta.step_index, one.meta.step_name, one.meta.iteration) for one in received]
    assert calls == [
        (method, *call)
        for call in ((0, "first", 0), (0, "first", 1), (1, "second", 0))
        for method in ("request", "response")
    ]
    assert len({one.meta.trace_id for one in received}) == 1
    assert len({one.meta.span_id for one in received}) == 3
    assert received[0].meta == received[1].meta
    assert abs(received[0].meta.timestamp.ToNanoseconds() / 1e9 - time.time()) < PATIENCE
    assert received[0].body["observed"]["composite"]["resource"] == XR
    assert received[0].body["meta"]["tag"] == received[1].body["meta"]["tag"] == REQUEST.tag
    assert (received[5].body, received[5].error) == (None, "nobody answers at function-b")
    assert received[5].meta.function_name == "function-b"
    identity = received[0].meta.composition_meta
    assert (identity.composition_name, identity.composite_resource_uid) == ("dbs", "u-1")
    assert (identity.composite_resource_namespace, identity.composite_resource_name) == ("team", "orders")
    assert identity.composite_resource_api_version == "example.org/v1"
    assert identity.composite_resource_kind == "Db"


async def test_secrets_are_redacted_and_their_keys_stay():
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": '{"data":{"k":"hush"}}', "a": "b"}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "keys", "annotations": annotations},
        "data": {"k": "hush"},
        "stringData": {"s": "hush"},
    }
    resource = Resource(secret, {"password": b"hush"})
    state = State(Resource(XR, {"password": b"hush"}), {"keys": resource})
    request = Request(
        state,
        state,
        credentials={"cloud": {"token": b"hush"}},
        required_resources={"r": (resource,)},
        extra_resources={"e": (resource,)},
    )
    with socket_path() as socket, inspecting(socket) as server, sending(socket) as inspector:
        run = inspector.begin_operation("backup", "u-2", STEPS)
        await run.inspect(STEPS[0], request, answering(respond(request)))
        sent, answered = server.until(lambda received: len(received) == 2 and received)
    hush = base64.b64encode(b"hush").decode()
    assert not any(word in str(body) for word in ("hush", hush) for body in (sent.body, answered.body))
    assert sent.body["credentials"] == {"cloud": {"credentialData": {"data": {"token": REDACTED}}}}
    copies = [
        sent.body["observed"]["resources"]["keys"],
        sent.body["desired"]["resources"]["keys"],
        sent.body["requiredResources"]["r"]["items"][0],
        sent.body["extraResources"]["e"]["items"][0],
        answered.body["desired"]["resources"]["keys"],
    ]
    for copy in copies:
        assert copy["connectionDetails"] == {"password": REDACTED}
        assert copy["resource"]["data"] == {"k": "**REDACTED**"}
        assert copy["resource"]["stringData"] == {"s": "**REDACTED**"}
        assert copy["resource"]["metadata"]["annotations"]["a"] == "b"
    assert sent.body["observed"]["composite"]["connectionDetails"] == {"password": REDACTED}
    assert request.observed.resources["keys"].object["data"] == {"k": "hush"}
    assert sent.meta.WhichOneof("context") == "operation_meta"
    assert (sent.meta.operation_meta.operation_name, sent.meta.operation_meta.operation_uid) == (
        "backup",
        "u-2",
    )


async def test_a_late_inspector_gets_only_later_calls(caplog):
    step = Step("first", "function-late")
    with socket_path() as socket, sending(socket) as inspector:
        run = inspector.begin_composition("dbs", (step,))
        await run.inspect(step, REQUEST, answering(respond(REQUEST)))
        end = time.monotonic() + PATIENCE
        while lost("function-late") < 2:
            assert time.monotonic() < end
            await asyncio.sleep(0.02)
        with inspecting(socket) as server:
            while not server.received:
                assert time.monotonic() < end
                await run.inspect(step, REQUEST, answering(respond(REQUEST)))
                await asyncio.sleep(0.05)
    warnings = [line.getMessage() for line in caplog.records if "pipeline inspector" in line.getMessage()]
    assert len(warnings) == 1
    assert socket in warnings[0]


async def test_an_inspector_that_hangs_delays_no_run():
    step = Step("first", "function-hung")
    with socket_path() as socket, inspecting(socket) as server, sending(socket) as inspector:
        server.answers.clear()
        run = inspector.begin_composition("dbs", (step,))
        started = time.monotonic()
        for _ in range(MOST_WAITING):
            await run.inspect(step, REQUEST, answering(respond(REQUEST)))
        assert time.monotonic() - started < PATIENCE / 10
        assert lost("function-hung") >= MOST_WAITING / 2
