"""Runs of the engine in memory, with every question and answer kept as a recorder keeps them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from crossply.compose import effects
from crossply.compose.conditions import RESPONSIVE
from crossply.compose.effect_driver import Handlers, drive
from crossply.compose.in_memory_cluster import CallFunction, InMemoryCluster, InMemoryReads
from crossply.compose.machinery import MODERN
from crossply.compose.messages import CAPABILITIES, Requirements, Snapshot
from crossply.compose.metadata import name_of
from crossply.compose.observed_resources import Observed
from crossply.compose.pipeline import PipelineReport
from crossply.compose.prepared_composition import prepare
from crossply.compose.reconcile import reconcile
from crossply.compose.selection import Selected
from crossply.errors import CrossplyError
from crossply.kinds.composition import parse_composition
from crossply.runs.model import COMPOSITE, Exchange, World
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
        self._call = call
        self._required = list(required)
        self._requirements: Mapping[str, Requirements] = {}
        self._writes = 0

    def run(self) -> World:
        """Reconcile once; what was asked and answered."""
        exchanges: list[Exchange] = []
        report = PipelineReport(self._requirements)
        required = dict(self._requirements)
        times: list[str] = []

        def now() -> str:
            times.append(f"2026-01-01T00:00:{len(times):02}Z")
            return times[-1]

        world = World(
            COMPOSITE, self.xr, MODERN, None, FINALIZER, RESPONSIVE, CAPABILITIES, {}, required, (), ()
        )
        work = reconcile(self.xr, world.settings()._replace(now=now), report)
        with contextlib.suppress(CrossplyError):
            drive(work, {kind: _kept(handler, exchanges) for kind, handler in self._handlers().items()})
        self._requirements = report.requirements
        return world._replace(times=tuple(times), exchanges=tuple(exchanges))

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
        for resource in effect.composed:
            if resource.name not in self.refused:
                metadata = {**resource.object["metadata"], "uid": f"uid-{resource.name}"}
                status = (self.observed.get(resource.name) or {}).get("status", {})
                self.observed[resource.name] = {**resource.object, "metadata": metadata, "status": status}
        return effects.Applied(dict(self.refused))

    def _delete(self, effect: effects.DeleteComposed) -> None:
        for deletion in effect.deletions:
            self.observed.pop(deletion.name, None)


def _kept(handler: Callable[[Any], Any], exchanges: list[Exchange]) -> Callable[[Any], Any]:
    def handle(effect: Any) -> Any:
        try:
            answer = handler(effect)
        except CrossplyError as problem:
            exchanges.append(Exchange(effect, None, problem))
            raise
        exchanges.append(Exchange(effect, answer))
        return answer

    return handle
