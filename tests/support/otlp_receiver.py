"""Somewhere to send spans to: what a collector is to a program, over the real protocol."""

from __future__ import annotations

import contextlib
import gzip
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Received:
    """The received spans, and their senders."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resource: dict[str, str] = {}
        self.url = ""
        self._news = threading.Condition()

    def take(self, body: bytes) -> None:
        message = ExportTraceServiceRequest.FromString(body)
        with self._news:
            for resource in message.resource_spans:
                self.resource |= attributes(resource.resource)
                self.spans += [span for scope in resource.scope_spans for span in scope.spans]
            self._news.notify_all()

    def until(self, check: Callable[[list[Any]], Any], seconds: float = 30.0) -> Any:
        """What a check finds in the spans, once it finds something."""
        with self._news:
            assert self._news.wait_for(lambda: check(self.spans), seconds), [span.name for span in self.spans]
            return check(self.spans)


def attributes(telemetry: Any) -> dict[str, str]:
    return {attribute.key: attribute.value.string_value for attribute in telemetry.attributes}


@contextlib.contextmanager
def receiving() -> Iterator[Received]:
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            received.take(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        received.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield received
        finally:
            server.shutdown()
