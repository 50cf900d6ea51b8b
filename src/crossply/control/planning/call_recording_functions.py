"""The functions of a plan whose calls are kept, to explain afterwards where fields come from."""

from __future__ import annotations

from crossply.compose.messages import Request
from crossply.compose.object_metadata import uid_of
from crossply.control.calls.pipeline_functions import PipelineFunctions
from crossply.control.calls.runner_factory import RunnerFactory
from crossply.control.calls.runner_protocol import Answer
from crossply.kinds.composition import Step
from crossply.provenance.call_recorder import CallRecorder
from crossply.provenance.model import Provenance
from crossply.provenance.pipeline import explain_pipeline


class RecordedFunctions(PipelineFunctions):
    """Keeps the last calls of each XR."""

    def __init__(self, factory: RunnerFactory) -> None:
        super().__init__(factory=factory)
        self._recorders: dict[str, CallRecorder] = {}

    async def call(self, step: Step, request: Request, skip_cache: bool = False) -> Answer:
        answer = await super().call(step, request, skip_cache)
        composite = request.observed.composite
        if composite is not None:
            recorder = self._recorders.setdefault(uid_of(composite.object), CallRecorder())
            recorder.record(step, request, answer.response)
        return answer

    def provenance_of(self, uid: str) -> Provenance | None:
        """Where the fields come from that the pipeline of an XR desires; None for one that did not run."""
        recorder = self._recorders.get(uid)
        return None if recorder is None else explain_pipeline(recorder.calls())
