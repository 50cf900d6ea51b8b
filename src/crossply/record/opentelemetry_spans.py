"""OpenTelemetry spans: a reconcile, the steps of its pipeline, and their function calls.

Imported only if tracing is enabled (see `tracing`). The SDK reads its settings from the environment:
exporter, sampling, service name.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    format_trace_id,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from crossply.record.run_context import Headers, Run, trace_runs
from crossply.version import __version__

FLUSH_SECONDS = 5.0
"""How long the end of the program waits for the last spans to get out."""
LONGEST = 1024
"""The maximum length of a problem in a span."""

_propagator = TraceContextTextMapPropagator()


def start_spans() -> Callable[[], None]:
    """Trace every run from now on; returns how to send the rest and stop."""
    resource = Resource.create({SERVICE_NAME: "crossply", SERVICE_VERSION: __version__})
    # What the environment says about us wins over what we say.
    provider = TracerProvider(
        resource=resource.merge(OTELResourceDetector().detect()), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("crossply", __version__)
    trace_runs(lambda run: RunTrace(tracer, run))

    def stop() -> None:
        trace_runs(None)
        # A collector that does not answer must not hold up the end.
        last = threading.Thread(target=provider.shutdown, daemon=True)
        last.start()
        last.join(FLUSH_SECONDS)

    return stop


class RunTrace:
    """The spans of one run. A step lasts from the beginning of its first call to the end of its last."""

    __slots__ = ("_call", "_call_end", "_root", "_step", "_step_name", "_tracer", "id")

    def __init__(self, tracer: Tracer, run: Run) -> None:
        self._tracer = tracer
        self._root = tracer.start_span(f"reconcile {run.kind}", attributes=_attributes(run))
        self._step: Span | None = None
        self._step_name = ""
        self._call: Span | None = None
        self._call_end = 0
        self.id = format_trace_id(self._root.get_span_context().trace_id)

    def begin_call(self, step: str, function: str) -> None:
        """A step calls its function; a step that calls it several times is one span."""
        if self._step is None or self._step_name != step:
            self._end_step()
            self._step_name = step
            self._step = self._begin(f"step {step}", self._root, SpanKind.INTERNAL, {"crossply.step": step})
        attributes = {"crossply.function": function}
        self._call = self._begin(f"RunFunction {function}", self._step, SpanKind.CLIENT, attributes)

    def end_call(self, problem: str) -> None:
        """It answered, or not."""
        self._call_end = time.time_ns()
        if self._call is None:
            return
        if problem:
            _mark(self._call, problem)
        self._call.end(self._call_end)
        self._call = None

    def fail(self, problem: str) -> None:
        """The run failed."""
        _mark(self._root, problem)

    def headers(self) -> Headers:
        """The headers of a call, with the trace that it belongs to."""
        carrier: dict[str, str] = {}
        _propagator.inject(carrier, set_span_in_context(self._call or self._root))
        return tuple(carrier.items())

    def end(self) -> None:
        """The run is over."""
        self._end_step()
        self._root.end()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.end(self._call_end or None)
            self._step = None

    def _begin(self, name: str, parent: Span, kind: SpanKind, attributes: dict[str, str]) -> Span:
        within = set_span_in_context(parent)
        return self._tracer.start_span(name, context=within, kind=kind, attributes=attributes)


def _attributes(run: Run) -> dict[str, str]:
    return {
        "crossply.controller": run.controller,
        "crossply.run.id": run.id,
        "crossply.object.kind": run.kind,
        "crossply.object.namespace": run.namespace,
        "crossply.object.name": run.name,
    }


def _mark(span: Span, problem: str) -> None:
    span.set_status(Status(StatusCode.ERROR, problem[:LONGEST]))
