"""Everything that a control plane counts, under the names that dashboards for Crossplane know.

The figures are of the whole process. The page of the reference is generated from this list.
"""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from crossply.record.prometheus import Counter, DurationHistogram, Gauge, MetricFamily, Reading
from crossply.record.workqueue_meter import WorkMeter, longest, unfinished, waiting
from crossply.version import __version__

UNANSWERED = "<error>"
"""The code of a request that got no response."""
_CALL = ("function_name", "function_package", "grpc_target", "grpc_method")
_ANSWER = (*_CALL, "grpc_code", "result_severity")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_REQUEST_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)

FUNCTION_REQUESTS = Counter("function_run_function_request_total", "Calls of functions begun.", *_CALL)
FUNCTION_RESPONSES = Counter(
    "function_run_function_response_total",
    "Calls of functions ended. The severity is that of the worst result.",
    *_ANSWER,
)
FUNCTION_SECONDS = DurationHistogram(
    "function_run_function_seconds", "How long calls of functions took.", *_ANSWER, bounds=_SECONDS
)
CACHE_HITS = Counter(
    "function_run_function_response_cache_hits_total",
    "Calls of functions saved: the last answer to the same question was still good.",
    "function_name",
)
CACHE_MISSES = Counter(
    "function_run_function_response_cache_misses_total",
    "Calls of functions made because there was no answer to the same question, or an old one.",
    "function_name",
)
CACHE_ERRORS = Counter(
    "function_run_function_response_cache_errors_total",
    "Answers on disk that could not be read or written.",
    "function_name",
)
INSPECTOR_ERRORS = Counter(
    "function_run_function_pipeline_inspector_errors_total",
    "Messages about calls of functions that the pipeline inspector did not get: request or response.",
    "function_name",
    "type",
)
RUNS = Counter(
    "crossply_runs_total",
    "Pipeline runs by what the recorder did: recorded, repeated (nothing changed: only counted), or dropped "
    "(too many at once, or no room on the disk).",
    "result",
)
RUNS_CPU = Counter(
    "crossply_runs_cpu_seconds_total",
    "CPU time that recording pipeline runs took: encoding them between reconciles, storing them beside.",
    "part",
)
CACHE_WRITES = Counter(
    "function_run_function_response_cache_writes_total", "Answers written to disk.", "function_name"
)
CACHE_DELETES = Counter(
    "function_run_function_response_cache_deletes_total", "Answers deleted from disk.", "function_name"
)
CACHE_BYTES_WRITTEN = Counter(
    "function_run_function_response_cache_bytes_written_total",
    "Bytes of answers written to disk.",
    "function_name",
)
CACHE_BYTES_DELETED = Counter(
    "function_run_function_response_cache_bytes_deleted_total",
    "Bytes of answers deleted from disk.",
    "function_name",
)
CONTROLLERS_STARTED = Counter("engine_controllers_started_total", "Controllers started.", "controller")
CONTROLLERS_STOPPED = Counter("engine_controllers_stopped_total", "Controllers stopped.", "controller")
WATCHES_STARTED = Counter(
    "engine_watches_started_total", "Watches started, by the resource that is watched.", "type"
)
WATCHES_STOPPED = Counter(
    "engine_watches_stopped_total", "Watches stopped, by the resource that was watched.", "type"
)
CIRCUITS_OPENED = Counter(
    "circuit_breaker_opens_total", "Composite resources slowed down: they wake themselves.", "controller"
)
CIRCUITS_CLOSED = Counter(
    "circuit_breaker_closes_total", "Composite resources slowed down no longer.", "controller"
)
CIRCUIT_EVENTS = Counter(
    "circuit_breaker_events_total",
    "Reconcile requests: Allowed, HalfOpenAllowed (now and then), or Dropped (put off, never lost).",
    "controller",
    "result",
)
CLIENT_REQUESTS = Counter(
    "rest_client_requests_total",
    "Requests to the API server; the code of one that got no answer is `<error>`.",
    "code",
    "method",
    "host",
)
CLIENT_SECONDS = DurationHistogram(
    "rest_client_request_duration_seconds",
    "How long the API server took to begin its answers.",
    "verb",
    "host",
    bounds=_REQUEST_SECONDS,
)
LINES_DROPPED = Counter(
    "crossply_log_lines_held_back_total", "Lines not logged: too many were like them.", "level"
)


class CircuitMeter:
    """Counts what the circuit breaker of one controller lets through and delays."""

    def __init__(self, controller: str) -> None:
        self.opened = CIRCUITS_OPENED.of(controller)
        self.closed = CIRCUITS_CLOSED.of(controller)
        self.allowed = CIRCUIT_EVENTS.of(controller, "Allowed")
        self.probed = CIRCUIT_EVENTS.of(controller, "HalfOpenAllowed")
        self.put_off = CIRCUIT_EVENTS.of(controller, "Dropped")


class Exchange:
    """One request to the API server; only its first end counts."""

    __slots__ = ("_host", "_method", "_start")

    def __init__(self, method: str, host: str) -> None:
        self._method = method
        self._host = host
        self._start: float | None = time.perf_counter()

    def end(self, code: str) -> None:
        """Count the response; what fails after the response started is not counted."""
        if self._start is not None:
            CLIENT_REQUESTS.of(code, self._method, self._host).value += 1
            CLIENT_SECONDS.of(self._method, self._host).add(time.perf_counter() - self._start)
            self._start = None


def host_of(server: str) -> str:
    """The host and port of a server, without credentials."""
    return urlsplit(server).netloc.rpartition("@")[2]


def _build() -> Reading:
    return [((__version__,), 1)]


ALL: tuple[MetricFamily, ...] = (
    FUNCTION_REQUESTS,
    FUNCTION_RESPONSES,
    FUNCTION_SECONDS,
    CACHE_HITS,
    CACHE_MISSES,
    CACHE_ERRORS,
    CACHE_WRITES,
    CACHE_DELETES,
    CACHE_BYTES_WRITTEN,
    CACHE_BYTES_DELETED,
    INSPECTOR_ERRORS,
    RUNS,
    RUNS_CPU,
    *WorkMeter.FAMILIES,
    Gauge("workqueue_depth", "Objects that wait to be worked on.", "controller", "name", read=waiting),
    Gauge(
        "workqueue_unfinished_work_seconds",
        "How long the work under way has taken so far, all together.",
        "controller",
        "name",
        read=unfinished,
    ),
    Gauge(
        "workqueue_longest_running_processor_seconds",
        "How long the oldest work under way has taken so far.",
        "controller",
        "name",
        read=longest,
    ),
    CONTROLLERS_STARTED,
    CONTROLLERS_STOPPED,
    WATCHES_STARTED,
    WATCHES_STOPPED,
    CIRCUITS_OPENED,
    CIRCUITS_CLOSED,
    CIRCUIT_EVENTS,
    CLIENT_REQUESTS,
    CLIENT_SECONDS,
    LINES_DROPPED,
    Gauge("crossply_build_info", "Always 1; the label says which version runs.", "version", read=_build),
)
