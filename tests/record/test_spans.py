"""Spans: a reconcile, its steps, their calls; as a collector receives them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from crossply.record import opentelemetry_spans as otel
from crossply.record.run_context import call_headers, running
from crossply.record.tracing import is_tracing_enabled, obstacle, start_tracing
from tests.support.otlp_receiver import Received, attributes, receiving

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.fixture
def collector(monkeypatch):
    with receiving() as received:
        monkeypatch.setenv(ENDPOINT, received.url)
        yield received


def traced(work) -> None:
    """Do some work while runs are traced."""
    stop = start_tracing()
    try:
        work()
    finally:
        stop()


def pipeline() -> None:
    with running("composite/dbs.example.org", "Db", "team", "mine") as run:
        for step, function in (("a", "function-a"), ("a", "function-a"), ("b", "function-b")):
            run.trace.begin_call(step, function)
            run.trace.end_call("")


def by_name(received: Received) -> dict:
    return {span.name: span for span in received.spans}


def test_a_run_a_step_and_a_call_are_nested_spans(collector) -> None:
    traced(pipeline)
    spans = by_name(collector)
    run, step, call = spans["reconcile Db"], spans["step b"], spans["RunFunction function-b"]
    assert run.parent_span_id == b""
    assert step.parent_span_id == run.span_id
    assert call.parent_span_id == step.span_id
    assert {span.trace_id for span in collector.spans} == {run.trace_id}
    values = attributes(run)
    assert values.pop("crossply.run.id")
    assert values == {
        "crossply.controller": "composite/dbs.example.org",
        "crossply.object.kind": "Db",
        "crossply.object.namespace": "team",
        "crossply.object.name": "mine",
    }


def test_a_step_that_calls_its_function_twice_is_one_span_that_ends_with_the_second_call(collector) -> None:
    traced(pipeline)
    steps = [span for span in collector.spans if span.name == "step a"]
    calls = [span for span in collector.spans if span.name == "RunFunction function-a"]
    assert (len(steps), len(calls)) == (1, 2)
    assert {call.parent_span_id for call in calls} == {steps[0].span_id}
    assert steps[0].end_time_unix_nano == max(call.end_time_unix_nano for call in calls)


def test_a_failure_is_marked_with_the_reason(collector) -> None:
    def work() -> None:
        with running("composite/dbs", "Db", "", "mine") as run:
            run.trace.begin_call("a", "f")
            run.trace.end_call("CP-311: it is down")
            run.failed("CP-311: it is down")

    traced(work)
    spans = by_name(collector)
    for name in ("reconcile Db", "RunFunction f"):
        assert (spans[name].status.code, spans[name].status.message) == (2, "CP-311: it is down")
    assert spans["step a"].status.code == 0


def test_a_function_gets_the_span_of_its_call(collector) -> None:
    metadata: list[dict[str, str]] = []

    def work() -> None:
        with running("composite/dbs", "Db", "", "mine") as run:
            run.trace.begin_call("a", "f")
            metadata.append(dict(call_headers()))
            run.trace.end_call("")

    traced(work)
    call = by_name(collector)["RunFunction f"]
    assert list(metadata[0]) == ["traceparent"]
    assert metadata[0]["traceparent"].startswith(f"00-{call.trace_id.hex()}-{call.span_id.hex()}-")


def test_the_service_is_named_and_the_environment_overrides_it(collector, monkeypatch) -> None:
    traced(pipeline)
    assert collector.resource["service.name"] == "crossply"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "ours")
    traced(pipeline)
    assert collector.resource["service.name"] == "ours"


def test_a_collector_that_is_gone_does_not_hold_up_the_end(monkeypatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:1")
    monkeypatch.setattr(otel, "FLUSH_SECONDS", 0.1)
    traced(pipeline)


@pytest.mark.parametrize(
    ("environ", "expected", "why"),
    [
        ({}, False, "nobody asked"),
        ({ENDPOINT: "http://c:4318"}, True, "an endpoint for everything"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/x"}, True, "an endpoint for traces"),
        ({ENDPOINT: "http://c:4318", "OTEL_SDK_DISABLED": "true"}, False, "it is turned off"),
        ({ENDPOINT: "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, False, "metrics only"),
    ],
)
def test_the_environment_decides(environ, expected, why) -> None:
    assert is_tracing_enabled(environ) is expected, why


def test_a_protocol_that_is_not_offered_is_named() -> None:
    assert obstacle({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}) == ""
    assert "grpc" in obstacle({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})


def test_without_tracing_a_run_has_no_trace_and_nothing_is_imported() -> None:
    with running("composite/dbs", "Db", "", "mine") as run:
        assert run.trace is None
        assert call_headers() is None
    modules = "crossply.control.control_plane, crossply.record.logs"
    code = f"import sys, {modules}; print('opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
