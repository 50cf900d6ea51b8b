"""Keeping the calls of a pipeline while it runs, to explain it afterwards.

Requirements that nothing matched explain why so little was rendered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crossply.compose.function_messages import Request, ResourceSelector, Response
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


def absent_requirements(calls: Iterable[StepCall]) -> Iterator[str]:
    """`step copy requires Secret pw, which is not provided`, for the last call of each step."""
    for call in calls:
        requirements = call.response.requirements
        if requirements is None:
            continue
        selectors = {**requirements.extra_resources, **requirements.resources}
        sent = {**call.request.extra_resources, **call.request.required_resources}
        for name, selector in sorted(selectors.items()):
            if not sent.get(name):
                yield f"step {call.step} requires {_selected(selector)}, which is not provided"


def _selected(selector: ResourceSelector) -> str:
    if selector.match_name is not None:
        place = f"{selector.namespace}/" if selector.namespace else ""
        return f"{selector.kind} {place}{selector.match_name}"
    labels = ", ".join(f"{key}={value}" for key, value in sorted((selector.match_labels or {}).items()))
    return f"{selector.kind} with {labels}" if labels else selector.kind
