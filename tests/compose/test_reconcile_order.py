"""What a reconcile writes, and in which order, as a driver records it that keeps everything in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crossply.compose import effects
from crossply.compose.effect_driver import drive
from crossply.compose.effects import (
    AcceptRequest,
    Applied,
    ApplyComposed,
    Call,
    DeleteComposed,
    Diagnose,
    Diagnosis,
    FetchComposition,
    IsNamespaced,
    Observation,
    Observe,
    PublishDetails,
    RecordEvents,
    RemoveFinalizer,
    SaveComposite,
    SelectComposition,
    SelectRevision,
    ServesWatchedRefs,
    WatchDependencies,
    WriteStatus,
)
from crossply.compose.engine_field_paths import LEGACY, MODERN, Machinery
from crossply.compose.errors import ComposeError, SelectionError
from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    Function,
    Request,
    Resource,
    Response,
    Result,
    Snapshot,
    State,
    respond,
)
from crossply.compose.observed_resources import Observed
from crossply.compose.pipeline import PipelineReport
from crossply.compose.prepared_composition import prepare
from crossply.compose.reconcile import Settings, reconcile
from crossply.compose.selection import Selected
from crossply.kinds.composition import Composition, Step, TypeRef
from crossply.values import Object
from tests.support.composition_platform import desires, make_xr

FINALIZER = "composite.example.org"
NOW = "2026-01-01T00:00:00Z"
COMPOSITION = prepare(
    Composition("comp", {}, {}, TypeRef("example.org/v1", "XBucket"), (Step("a", "a"),), None, "")
)
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "value"}}


class Conflict(Exception):
    """A write that lost to another writer: a conflict, not an error."""


class Cluster:
    """Answers every effect from what was written before, and records the effects that change something."""

    def __init__(self, function: Function, xr: Object | None = None, machinery: Machinery = MODERN) -> None:
        self.xr = xr or make_xr(uid="uid-1")
        self.composed: dict[str, Object] = {}
        self.applied_to: dict[str, Object | None] = {}
        """What each resource was when it was applied last; None where it did not exist."""
        self.refused: dict[str, str] = {}
        self.failing: dict[type, Exception] = {}
        self.log: list[str] = []
        self.events: list[str] = []
        self._function = function
        self._settings = Settings(machinery, lambda: NOW, finalizer=FINALIZER)

    def reconcile(self) -> list[str]:
        """Reconcile once; returns what was done, in order."""
        self.log.clear()
        self.events.clear()
        work = reconcile(self.xr, self._settings, PipelineReport())
        drive(work, {kind: self._answering(kind) for kind in effects.Effect.__args__})
        return list(self.log)

    def _answering(self, kind: type) -> Callable[[Any], Any]:
        def answer(effect: Any) -> Any:
            if kind in self.failing:
                raise self.failing[kind]
            return handlers[kind](effect)

        handlers: dict[type, Callable[[Any], Any]] = {
            AcceptRequest: lambda _: True,
            SelectComposition: lambda _: Selected(
                "comp", changed=not MODERN.name_in(self.xr, "compositionRef")
            ),
            SelectRevision: lambda _: Selected("comp-1", changed=False),
            FetchComposition: lambda _: COMPOSITION,
            Call: lambda call: self._function(call.request),
            IsNamespaced: lambda _: True,
            Observe: lambda _: Observation([Observed(Snapshot(obj)) for obj in self.composed.values()]),
            ServesWatchedRefs: lambda _: True,
            RecordEvents: self._record,
            SaveComposite: self._save,
            DeleteComposed: self._delete,
            ApplyComposed: self._apply,
            PublishDetails: lambda _: self._note("publish details"),
            WatchDependencies: lambda _: self._note("follow dependencies"),
            WriteStatus: self._write_status,
            RemoveFinalizer: lambda _: self._note("remove finalizer"),
            Diagnose: lambda effect: Diagnosis(effect.problem, self.xr),
        }
        return answer

    def _note(self, line: str) -> None:
        self.log.append(line)

    def _record(self, effect: RecordEvents) -> None:
        groups = (effect.events, *effect.progress)
        self.events += (f"{event.reason}: {event.message}" for group in groups for event in group)

    def _save(self, effect: SaveComposite) -> Object:
        if effect.desired != effect.live:
            references = len(MODERN.read(effect.desired, "resourceRefs") or ())
            self._note(f"save composite with {references} references")
            self.xr = effect.desired
        return self.xr

    def _delete(self, effect: DeleteComposed) -> None:
        for deletion in effect.deletions:
            self._note(f"delete {deletion.name}")
            del self.composed[deletion.name]

    def _apply(self, effect: ApplyComposed) -> Applied:
        for resource in effect.composed:
            if resource.name not in self.refused and self.composed.get(resource.name) != resource.object:
                self._note(f"apply {resource.name}")
                observed = resource.observed
                self.applied_to[resource.name] = None if observed is None else observed.object
                self.composed[resource.name] = resource.object
        return Applied(self.refused)

    def _write_status(self, effect: WriteStatus) -> Object:
        if effect.status != effect.live.get("status"):
            states = {condition["type"]: condition["reason"] for condition in effect.status["conditions"]}
            self._note(f"write status {states.get('Synced')}/{states.get('Ready')}")
            self.xr = {**effect.live, "status": effect.status}
        return self.xr

    @property
    def conditions(self) -> dict[str, Object]:
        return {condition["type"]: condition for condition in self.xr["status"]["conditions"]}


def fatal(request: Request) -> Response:
    return respond(request, results=(Result(SEVERITY_FATAL, "broken"),))


def test_references_are_saved_before_anything_is_created_and_the_status_comes_last() -> None:
    cluster = Cluster(desires(a=CONFIG_MAP, b=CONFIG_MAP))
    assert cluster.reconcile() == [
        "save composite with 2 references",
        "apply a",
        "apply b",
        "follow dependencies",
        "write status ReconcileSuccess/Available",
    ]
    assert cluster.xr["metadata"]["finalizers"] == [FINALIZER]
    assert cluster.events == ["SelectComposition: Successfully selected composition: comp"]


def test_a_settled_resource_is_not_written() -> None:
    cluster = Cluster(desires(a=CONFIG_MAP))
    cluster.reconcile()
    assert cluster.reconcile() == ["follow dependencies"]


def test_created_resources_are_observed_before_the_status_is_written() -> None:
    observed_names: list[set[str]] = []

    def function(request: Request) -> Response:
        observed_names.append(set(request.observed.resources))
        return desires(a=CONFIG_MAP)(request)

    Cluster(function).reconcile()
    assert observed_names == [set(), {"a"}]


def test_undesired_resources_are_deleted_before_references_are_saved_and_others_applied() -> None:
    cluster = Cluster(desires(a=CONFIG_MAP))
    cluster.reconcile()
    cluster._function = desires(b=CONFIG_MAP, c=CONFIG_MAP)
    assert cluster.reconcile() == [
        "delete a",
        "save composite with 2 references",
        "apply b",
        "apply c",
        "follow dependencies",
    ]


def test_a_resource_of_another_kind_is_made_anew_and_observed_at_once() -> None:
    cluster = Cluster(desires(a=CONFIG_MAP))
    cluster.reconcile()
    old = cluster.composed["a"]
    observed_kinds: list[list[str]] = []

    def function(request: Request) -> Response:
        observed_kinds.append([obj.object["kind"] for obj in request.observed.resources.values()])
        return desires(a={"apiVersion": "v1", "kind": "Secret"})(request)

    cluster._function = function
    assert cluster.reconcile() == [
        "delete a",
        "save composite with 1 references",
        "apply a",
        "follow dependencies",
    ]
    # The first is an apply of what does not exist yet, not a change of the object that was just deleted.
    assert cluster.applied_to == {"a": None}
    assert cluster.composed["a"]["metadata"]["name"] == old["metadata"]["name"]
    assert observed_kinds == [["ConfigMap"], ["Secret"]]


def test_a_step_that_fails_leaves_everything_but_the_selection_and_the_status() -> None:
    cluster = Cluster(fatal)
    with pytest.raises(ComposeError, match='cannot compose resources: pipeline step "a" returned a fatal'):
        cluster.reconcile()
    assert cluster.log == ["save composite with 0 references", "write status ReconcileError/None"]
    assert [event.partition(":")[0] for event in cluster.events] == ["SelectComposition", "ComposeResources"]


def test_a_composition_that_cannot_be_selected_is_reported_as_that() -> None:
    cluster = Cluster(desires(a=CONFIG_MAP))
    cluster.failing[SelectComposition] = SelectionError("no compatible Compositions found")
    with pytest.raises(SelectionError):
        cluster.reconcile()
    assert cluster.log == ["save composite with 0 references", "write status ReconcileError/None"]
    assert cluster.events == ["SelectComposition: no compatible Compositions found"]


def test_references_that_cannot_be_saved_keep_anything_from_being_created() -> None:
    cluster = Cluster(desires(a=CONFIG_MAP))
    cluster.failing[SaveComposite] = ComposeError("server is down")
    with pytest.raises(ComposeError, match="cannot update composed resource references: server is down"):
        cluster.reconcile()
    assert cluster.log == ["write status ReconcileError/None"]


def test_a_paused_resource_gets_a_condition_and_nothing_else() -> None:
    xr = make_xr(uid="uid-1", annotations={"crossplane.io/paused": "true"}, deletionTimestamp=NOW)
    cluster = Cluster(desires(a=CONFIG_MAP), xr)
    assert cluster.reconcile() == ["write status ReconcilePaused/None"]
    assert len(cluster.events) == 1


def test_a_deleted_resource_gets_a_condition_before_its_finalizer_goes() -> None:
    xr = make_xr(uid="uid-1", deletionTimestamp=NOW, finalizers=[FINALIZER])
    cluster = Cluster(desires(a=CONFIG_MAP), xr)
    assert cluster.reconcile() == ["write status ReconcileSuccess/Deleting", "remove finalizer"]


def test_a_deleted_resource_without_our_finalizer_is_left_alone() -> None:
    cluster = Cluster(desires(a=CONFIG_MAP), make_xr(uid="uid-1", deletionTimestamp=NOW))
    assert cluster.reconcile() == []


def test_a_resource_that_the_server_refuses_is_reported_and_the_others_are_applied() -> None:
    cluster = Cluster(desires(a=CONFIG_MAP, b=CONFIG_MAP))
    cluster.refused = {"a": "data is wrong"}
    assert "apply b" in cluster.reconcile()
    assert cluster.conditions["Synced"]["message"] == "Unsynced resources: a"
    assert 'ComposeResources: cannot apply composed resource "a": data is wrong' in cluster.events


@pytest.mark.parametrize("write", [SaveComposite, DeleteComposed, ApplyComposed, WriteStatus])
def test_a_conflict_ends_the_reconcile_without_a_report(write: type) -> None:
    cluster = Cluster(desires(a=CONFIG_MAP))
    cluster.reconcile()
    cluster._function = desires(b={**CONFIG_MAP, "data": {"key": "other"}})
    cluster.failing[write] = Conflict()
    before = cluster.xr.get("status")
    if write is WriteStatus:
        cluster._function = lambda request: respond(request, desired=State(Resource({}), {}), results=())
        cluster.xr = {**cluster.xr, "metadata": {**cluster.xr["metadata"], "generation": 7}}
    with pytest.raises(Conflict):
        cluster.reconcile()
    assert cluster.xr.get("status") == before
    assert cluster.events == []


def test_details_are_published_before_the_status_has_the_time() -> None:
    cluster = Cluster(desires(a=CONFIG_MAP), machinery=LEGACY)
    done = cluster.reconcile()
    assert done.index("publish details") < done.index("write status ReconcileSuccess/Available")
