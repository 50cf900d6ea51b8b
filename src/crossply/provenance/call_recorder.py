"""Keeping the calls of a pipeline while it runs, to explain it afterwards."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.function_messages import Request, Response
from crossply.compose.in_memory_cluster import CallFunction
from crossply.kinds.composition import Step


class StepCall(NamedTuple):
    """The last call of a step: what its function was sent, and what it answered."""

    step: str
    function: str
    request: Request
    response: Response


class CallRecorder:
    """The last call of each step, in the order of the pipeline. Only references are kept."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: dict[str, StepCall] = {}

    def record(self, step: Step, request: Request, response: Response) -> None:
        self._calls[step.name] = StepCall(step.name, step.function, request, response)

    def calls(self) -> list[StepCall]:
        return list(self._calls.values())

    def recorded(self, call: CallFunction) -> CallFunction:
        """A caller of functions whose calls are recorded."""

        def call_and_record(step: Step, request: Request) -> Response:
            response = call(step, request)
            self.record(step, request, response)
            return response

        return call_and_record
