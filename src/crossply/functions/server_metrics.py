"""What a function's server counts, under the names of gRPC servers in Go, and the page that shows it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from crossply.functions.failures import ServeError
from crossply.record.prometheus import CONTENT_TYPE, Counter, DurationHistogram

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

_CALL = ("grpc_method", "grpc_service", "grpc_type")
_METHOD = ("RunFunction", "apiextensions.fn.proto.v1.FunctionRunnerService", "unary")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class CallMeter:
    """Counts the calls of one server; calls run in many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = Counter("grpc_server_started_total", "Calls begun.", *_CALL)
        self._handled = Counter("grpc_server_handled_total", "Calls ended.", *_CALL, "grpc_code")
        self._seconds = DurationHistogram(
            "grpc_server_handling_seconds", "How long calls took.", *_CALL, bounds=_SECONDS
        )

    def begin(self) -> None:
        """A call begins."""
        with self._lock:
            self._started.of(*_METHOD).value += 1

    def end(self, code: str, seconds: float) -> None:
        """A call ended, as gRPC says how, after so many seconds."""
        in_go = code if code == "OK" else "".join(word.capitalize() for word in code.split("_"))
        with self._lock:
            self._handled.of(*_METHOD, in_go).value += 1
            self._seconds.of(*_METHOD).add(seconds)

    def text(self) -> str:
        """All of it in Prometheus' text format."""
        with self._lock:
            return "".join(family.text() for family in (self._started, self._handled, self._seconds))


def serve_metrics(meter: CallMeter, address: str) -> ThreadingHTTPServer:
    """Serve /metrics at `host:port` or `:port` until the server is shut down."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Page(BaseHTTPRequestHandler):
        """Shows the page."""

        def do_GET(self) -> None:
            """Answer one request."""
            is_metrics = self.path.partition("?")[0] == "/metrics"
            body = meter.text().encode() if is_metrics else b"see /metrics\n"
            self.send_response(200 if is_metrics else 404)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
            """Say nothing."""

    host, _, port = address.rpartition(":")
    try:
        server = ThreadingHTTPServer((host.strip("[]"), int(port)), Page)
    except (OSError, ValueError, OverflowError) as problem:
        raise ServeError(
            f'cannot serve metrics at address "{address}": {problem}',
            hint='give another --metrics-address, or --metrics-address "" for none',
        ) from None
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True, name="metrics").start()
    return server
