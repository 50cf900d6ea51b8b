"""Sends calls of functions to a pipeline inspector: a gRPC service of another program at a unix socket.

A run only puts references into a queue of limited length; one thread redacts, encodes and sends. What the
inspector does not get is counted and logged. Nothing here ever fails, or waits in, a run.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Awaitable
from typing import Any, NamedTuple
from uuid import uuid4

from crossply.compose.function_messages import Request, Response
from crossply.control.calls.inspector_messages import CallIdentity, OperationIdentity, encode_message
from crossply.control.calls.runner_protocol import Answer
from crossply.functions.channels import silence_grpc
from crossply.kinds.composition import Step
from crossply.record import control_plane_metrics as metrics
from crossply.record.prometheus import Series
from crossply.record.rate_limit import RateLimiter

MOST_WAITING = 1_000
"""Messages beyond this number are dropped: they would take the memory that controllers need."""
_CALL_SECONDS = 1.0
_PAUSE = 1.0
"""Seconds without a try after the inspector could not be reached."""
_STOP_SECONDS = 2.0
_QUIET_SECONDS = 60.0
"""At most so often is a loss logged."""
_OPTIONS = [
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.default_authority", "localhost"),
    ("grpc.max_reconnect_backoff_ms", 5_000),
]
_log = logging.getLogger("crossply.control")


class _Message(NamedTuple):
    """A call of a function, or its outcome: the response, or why there is none."""

    call: CallIdentity
    content: Request | Response | str
    lost: Series
    """Counts what does not arrive."""


class PipelineInspector:
    """Sends to the inspector that listens at a socket."""

    def __init__(self, socket: str) -> None:
        self._socket = os.path.abspath(socket)
        self._queue: queue.SimpleQueue[_Message | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._log_limit = RateLimiter(1, _QUIET_SECONDS)
        self._not_before = 0.0
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="pipeline-inspector", daemon=True)
        self._thread.start()

    def begin_composition(self, composition: str, steps: tuple[Step, ...]) -> InspectedRun:
        """A run of a Composition's pipeline."""
        return InspectedRun(self, steps, composition=composition)

    def begin_operation(self, name: str, uid: str, steps: tuple[Step, ...]) -> InspectedRun:
        """A run of an Operation's pipeline."""
        return InspectedRun(self, steps, operation=OperationIdentity(name, uid))

    def emit(self, call: CallIdentity, content: Request | Response | str) -> None:
        """Send a message later. Called on the event loop."""
        kind = "request" if isinstance(content, Request) else "response"
        message = _Message(call, content, metrics.INSPECTOR_ERRORS.of(call.function, kind))
        if self._queue.qsize() >= MOST_WAITING:
            self._lose(message, "it is too slow")
        else:
            self._queue.put(message)

    def stop(self) -> None:
        """Send what is waiting, for a moment, and end."""
        self._queue.put(None)
        self._thread.join(_STOP_SECONDS)
        self._is_over = True
        self._thread.join(_CALL_SECONDS)

    def _run(self) -> None:
        silence_grpc()
        import grpc

        same: Any = None  # the messages are bytes already
        with grpc.insecure_channel(f"unix:{self._socket}", _OPTIONS) as channel:
            while (message := self._queue.get()) is not None and not self._is_over:
                if time.monotonic() < self._not_before:
                    self._lose(message, "it cannot be reached")
                    continue
                try:
                    method, data = encode_message(message.call, message.content)
                    channel.unary_unary(method, same, same)(data, timeout=_CALL_SECONDS)
                except grpc.RpcError as problem:
                    if problem.code() is grpc.StatusCode.UNAVAILABLE:
                        self._not_before = time.monotonic() + _PAUSE
                    self._lose(message, f"{problem.code().name}: {problem.details()}")
                except Exception as problem:  # noqa: BLE001 - a mistake of ours must not end the thread
                    self._lose(message, type(problem).__name__)

    def _lose(self, message: _Message, reason: str) -> None:
        with self._lock:
            message.lost.value += 1
            others = self._log_limit.take("")
        if others is not None:
            _log.warning(
                "the pipeline inspector at %s did not get a message: %s (and %d others before)",
                self._socket,
                reason,
                others,
            )


class InspectedRun:
    """One run of a pipeline."""

    def __init__(
        self,
        inspector: PipelineInspector,
        steps: tuple[Step, ...],
        composition: str = "",
        operation: OperationIdentity | None = None,
    ) -> None:
        self._inspector = inspector
        self._indexes = {step.name: index for index, step in enumerate(steps)}
        self._composition = composition
        self._operation = operation
        self._trace_id = str(uuid4())
        self._iterations: dict[str, int] = {}

    async def inspect(self, step: Step, request: Request, work: Awaitable[Answer]) -> Answer:
        """The answer to a call, which is sent to the inspector before and after."""
        call = self._identify(step, request)
        self._inspector.emit(call, request)
        try:
            answer = await work
        except BaseException as problem:
            self._inspector.emit(call, str(problem) or type(problem).__name__)
            raise
        self._inspector.emit(call, answer.response)
        return answer

    def _identify(self, step: Step, request: Request) -> CallIdentity:
        iteration = self._iterations.get(step.name, 0)
        self._iterations[step.name] = iteration + 1
        composite = request.observed.composite
        return CallIdentity(
            time.time_ns(),
            self._trace_id,
            str(uuid4()),
            self._indexes.get(step.name, 0),
            step.name,
            iteration,
            step.function,
            self._operation,
            self._composition,
            composite.object if composite is not None else {},
        )
