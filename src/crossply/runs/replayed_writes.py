"""The writes of a replayed run: they go nowhere, and get the recorded answers where they are the same.

Where a write differs, because a Composition or function was changed since, it is taken to succeed, and what
is observed after it shows the difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crossply.compose.composed_resources import Composed
from crossply.compose.effect_driver import Handlers
from crossply.compose.effects import (
    Applied,
    ApplyComposed,
    DeleteComposed,
    Diagnose,
    Diagnosis,
    Observation,
    PublishDetails,
    RecordEvents,
    RemoveFinalizer,
    SaveComposite,
    WatchDependencies,
    WriteStatus,
)
from crossply.compose.function_messages import Snapshot
from crossply.compose.object_metadata import RESOURCE_NAME_ANNOTATION, annotations_of
from crossply.compose.observed_resources import Observed
from crossply.runs.comparable_writes import written_effects
from crossply.runs.model import World
from crossply.runs.recorded_answers import RecordedAnswers, recorded_answer
from crossply.values import Object
from crossply.values.deepcopy import equal
from crossply.values.differences import carried


class ReplayedWrites:
    """Keeps what a replayed run writes."""

    __slots__ = ("_answers", "_applied", "_initial_names", "_live", "effects")

    def __init__(self, world: World, answers: RecordedAnswers) -> None:
        self._answers = answers
        self._live = world.xr
        self._applied: list[tuple[Iterable[Composed], Iterable[Composed]]] = []
        """What was applied in the recorded run and in this one, each time."""
        self._initial_names: set[str] = set()
        """The names of the resources that were observed before anything was applied."""
        self.effects: list[Any] = []

    def handlers(self) -> Handlers:
        return {
            SaveComposite: lambda effect: self._write(effect, effect.desired),
            WriteStatus: lambda effect: self._write(effect, {**effect.live, "status": effect.status}),
            ApplyComposed: self._apply,
            PublishDetails: self._publish,
            DeleteComposed: self._repeat_failure,
            RecordEvents: self._repeat_failure,
            WatchDependencies: self._repeat_failure,
            RemoveFinalizer: self._repeat_failure,
            Diagnose: self._diagnose,
        }

    def observe(self, observation: Observation) -> Observation:
        """What is observed after this run's writes instead of those of the recorded one."""
        resources = list(observation.resources)
        if not self._applied:
            self._initial_names = {_name(observed) for observed in resources}
            return observation._replace(resources=resources)
        before, now = ({resource.name: resource.object for resource in side} for side in self._applied[-1])
        by_name = {_name(observed): observed for observed in resources}
        for name in before.keys() - now.keys() - self._initial_names:
            by_name.pop(name, None)
        for name, obj in now.items():
            by_name[name] = _changed(by_name.get(name), before.get(name), obj)
        return observation._replace(resources=list(by_name.values()))

    def _write(self, effect: Any, assumed: Object) -> Object:
        self.effects.append(effect)
        exchange = self._answers.next(effect)
        same = exchange is not None and _is_same(exchange.effect, effect)
        self._live = recorded_answer(exchange) if exchange is not None and same else assumed
        return self._live

    def _apply(self, effect: ApplyComposed) -> Applied:
        self.effects.append(effect)
        exchange = self._answers.next(effect)
        if exchange is None:
            self._applied.append(((), effect.composed))
            return Applied()
        self._applied.append((exchange.effect.composed, effect.composed))
        if exchange.problem is not None:
            if _is_same(exchange.effect, effect):
                raise exchange.problem
            return Applied()
        recorded: Applied = exchange.answer
        before = {resource.name: resource.object for resource in exchange.effect.composed}
        refused = {
            resource.name: recorded.refused[resource.name]
            for resource in effect.composed
            if resource.name in recorded.refused and equal(before.get(resource.name), resource.object)
        }
        return Applied(refused, recorded.is_observable)

    def _publish(self, effect: PublishDetails) -> Any:
        self.effects.append(effect)
        exchange = self._answers.next(effect)
        return None if exchange is None else recorded_answer(exchange)

    def _repeat_failure(self, effect: Any) -> None:
        """Fail as the recorded run did, unless this writes something else."""
        self.effects.append(effect)
        exchange = self._answers.next(effect)
        if exchange is not None and exchange.problem is not None and _is_same(exchange.effect, effect):
            raise exchange.problem

    def _diagnose(self, effect: Diagnose) -> Diagnosis:
        exchange = self._answers.next(effect)
        if exchange is not None and str(exchange.effect.problem) == str(effect.problem):
            diagnosis: Diagnosis = recorded_answer(exchange)
            return diagnosis
        return Diagnosis(effect.problem, self._live)


def _is_same(recorded: Any, effect: Any) -> bool:
    before, now = written_effects([recorded]), written_effects([effect])
    return len(before) == len(now) and all(
        one[:2] == other[:2] and equal(one.content, other.content)
        for one, other in zip(before, now, strict=True)
    )


def _name(observed: Observed) -> str:
    return annotations_of(observed.snapshot.object).get(RESOURCE_NAME_ANNOTATION, "")


def _changed(observed: Observed | None, before: Object | None, now: Object) -> Observed:
    """A resource as it is observed after another apply than the recorded one."""
    if observed is None:
        return Observed(Snapshot(now))
    if before is None or equal(before, now):
        return observed
    obj = carried(before, now, observed.snapshot.object)
    return observed._replace(snapshot=Snapshot(obj))
