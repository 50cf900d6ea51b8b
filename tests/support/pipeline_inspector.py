"""A pipeline inspector: a gRPC server at a unix socket that keeps what it gets."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any, NamedTuple

import grpc

from crossply.functions.proto.pipeline.v1alpha1 import pipeline_inspector_pb2
from tests.support.function_servers import Methods
from tests.support.patience import PATIENCE

SERVICE = "/crossplane.pipeline.v1alpha1.PipelineInspectorService/"
messages: Any = pipeline_inspector_pb2


class Emitted(NamedTuple):
    """One message: a request, a response, or an error."""

    method: str
    meta: Any
    body: Any
    error: str


class Inspector:
    """What was received so far."""

    def __init__(self) -> None:
        self.received: list[Emitted] = []
        self.answers = threading.Event()
        """While it is not set, nothing is answered."""
        self.answers.set()

    def until(self, check: Callable[[list[Emitted]], Any]) -> Any:
        """What a check finds in all that was received, once it finds something."""
        end = time.monotonic() + PATIENCE
        while not (result := check(list(self.received))):
            assert time.monotonic() < end, self.received
            time.sleep(0.02)
        return result

    def emit_request(self, data: bytes, context: Any) -> bytes:
        self.answers.wait()
        message = messages.EmitRequestRequest.FromString(data)
        self.received.append(Emitted("request", message.meta, json.loads(message.request), ""))
        return bytes(messages.EmitRequestResponse().SerializeToString())

    def emit_response(self, data: bytes, context: Any) -> bytes:
        self.answers.wait()
        message = messages.EmitResponseRequest.FromString(data)
        body = json.loads(message.response) if message.response else None
        self.received.append(Emitted("response", message.meta, body, message.error))
        return bytes(messages.EmitResponseResponse().SerializeToString())


@contextlib.contextmanager
def socket_path() -> Iterator[str]:
    """A path that is short enough for a socket."""
    with tempfile.TemporaryDirectory() as directory:
        yield os.path.join(directory, "inspector")


@contextlib.contextmanager
def inspecting(socket: str) -> Iterator[Inspector]:
    """An inspector that listens at a socket."""
    inspector = Inspector()
    methods = {
        f"{SERVICE}EmitRequest": inspector.emit_request,
        f"{SERVICE}EmitResponse": inspector.emit_response,
    }
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Methods(methods)])
    assert server.add_insecure_port(f"unix:{socket}")
    server.start()
    try:
        yield inspector
    finally:
        inspector.answers.set()
        server.stop(None).wait()
