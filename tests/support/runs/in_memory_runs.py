"""Runs of the engine in memory, recorded and read back as a control plane's are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import Any

from crossply.compose import effects
from crossply.compose.conditions import RESPONSIVE
from crossply.compose.effect_driver import Handlers, drive
from crossply.compose.engine_field_paths import MODERN
from crossply.compose.function_messages import CAPABILITIES, Requirements, Snapshot
from crossply.compose.in_memory_cluster import CallFunction, InMemoryCluster, InMemoryReads
from crossply.compose.object_metadata import name_of
from crossply.compose.observed_resources import Observed
from crossply.compose.pipeline import PipelineReport
from crossply.compose.prepared_composition import prepare
from crossply.compose.reconcile import Settings, reconcile
from crossply.compose.selection import Selected
from crossply.errors import CrossplyError
from crossply.kinds.composition import parse_composition
from crossply.kinds.definition import Definition
from crossply.runs.capture import CallNote, Capture
from crossply.runs.compressed_run_records import read_run
from crossply.runs.model import Run
from crossply.runs.recorder import RunRecorder
from crossply.runs.sqlite_run_store import IN_MEMORY, RunStore
from crossply.values import Object

FINALIZER = "composite.apiextensions.crossplane.io"


class InMemoryPlane:
    """A composite resource, its Composition, and what exists of it; each `run` is one reconcile."""

    def __init__(
        self, xr: Object, composition: Object, call: CallFunction, required: Iterable[Object] = ()
    ) -> None:
        self.xr = xr
        self.composition = composition
        self.observed: dict[str, Object] = {}
        self.refused: dict[str, str] = {}
        self.definition: Definition | None = None
        self._call = call
        self._required = list(required)
        self._requirements: Mapping[str, Requirements] = {}
        self._writes = 0
        self._seconds = 0

    def run(self) -> Run:
        """Reconcile once; the run as it is read back from its record."""
        report = PipelineReport(self._requirements)
        settings = Settings(MODERN, self._now, self.definition, FINALIZER, RESPONSIVE, CAPABILITIES)
        capture = Capture(self.xr, settings, self._requirements, ("XR edited",))
        work = reconcile(self.xr, capture.settings, report)
        problem = None
        try:
            drive(work, {kind: _captured(handler, capture) for kind, handler in self._handlers().items()})
        except CrossplyError as failure:
            problem = failure
        capture.end(problem)
        self._requirements = report.requirements
        recorder = RunRecorder(RunStore(IN_MEMORY))
        try:
            return read_run(recorder.encode(capture).data)
        finally:
            recorder.stop()

    def _now(self) -> str:
        self._seconds += 1
        return f"2026-01-01T00:{self._seconds // 60:02}:{self._seconds % 60:02}Z"

    def _handlers(self) -> Handlers:
        prepared = prepare(parse_composition(self.composition))
        cluster = InMemoryCluster([*self._required, *self.observed.values()])
        return {
            **InMemoryReads(cluster, self._call).handlers(),
            effects.AcceptRequest: lambda _: True,
            effects.SelectComposition: lambda _: Selected(name_of(self.composition), True),
            effects.SelectRevision: lambda _: Selected(f"{name_of(self.composition)}-1", True),
            effects.FetchComposition: lambda _: prepared,
            effects.CountOwners: lambda _: 0,
            effects.FindScope: lambda _: True,
            effects.Observe: lambda _: effects.Observation(
                [Observed(Snapshot(obj)) for obj in self.observed.values()]
            ),
            effects.ServesWatchedRefs: lambda _: True,
            effects.RecordEvents: lambda _: None,
            effects.SaveComposite: lambda effect: self._write(effect.desired),
            effects.DeleteComposed: self._delete,
            effects.ApplyComposed: self._apply,
            effects.PublishDetails: lambda _: None,
            effects.WatchDependencies: lambda _: None,
            effects.WriteStatus: lambda effect: self._write({**effect.live, "status": effect.status}),
            effects.RemoveFinalizer: lambda _: None,
            effects.Diagnose: lambda effect: effects.Diagnosis(effect.problem, self.xr),
        }

    def _write(self, xr: Object) -> Object:
        self._writes += 1
        metadata = {**xr["metadata"], "resourceVersion": str(self._writes)}
        self.xr = {**xr, "metadata": metadata}
        return self.xr

    def _apply(self, effect: effects.ApplyComposed) -> effects.Applied:
        written = {}
        for resource in effect.composed:
            if resource.name not in self.refused:
                metadata = {**resource.object["metadata"], "uid": f"uid-{resource.name}"}
                status = (self.observed.get(resource.name) or {}).get("status", {})
                obj = {**resource.object, "metadata": metadata, "status": status}
                self.observed[resource.name] = written[resource.name] = obj
        return effects.Applied(dict(self.refused), written=written)

    def _delete(self, effect: effects.DeleteComposed) -> None:
        for deletion in effect.deletions:
            self.observed.pop(deletion.name, None)


def _captured(handler: Callable[[Any], Any], capture: Capture) -> Callable[[Any], Any]:
    def handle(effect: Any) -> Any:
        began = perf_counter()
        try:
            answer = handler(effect)
        except CrossplyError as problem:
            capture.exchanges.append((effect, None, problem, began, perf_counter()))
            raise
        if isinstance(effect, effects.Call):
            capture.calls.append(CallNote("", False))
        capture.exchanges.append((effect, answer, None, began, perf_counter()))
        return answer

    return handle
