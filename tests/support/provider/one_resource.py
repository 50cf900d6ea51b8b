"""One managed resource and its external system, in memory: what a reconcile does to both, step by step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from crossply.compose.conditions import AVAILABLE
from crossply.compose.effect_driver import drive
from crossply.compose.events import Event
from crossply.compose.object_metadata import annotations_of, labels_of
from crossply.provider import Ref, managed, reconcile_effects
from crossply.provider.creation import FINALIZER
from crossply.provider.external_error import ExternalFailure
from crossply.provider.managed_kind import ManagedKind, managed_kind
from crossply.provider.reconcile import reconcile_managed
from crossply.provider.reconcile_effects import Reconciled
from crossply.values import Object
from crossply.values.merge_patch import merge_patch

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NAME = "crossplane.io/external-name"


class _Methods:
    def observe(self, ctx: Any, params: Any) -> None: ...
    def create(self, ctx: Any, params: Any) -> None: ...
    def update(self, ctx: Any, params: Any) -> None: ...
    def delete(self, ctx: Any, params: Any) -> None: ...


@managed(group="things.example.org")
class Owner(_Methods):
    """What a bucket refers to."""

    @dataclass
    class Parameters:
        """None."""


@managed(group="things.example.org")
class Bucket(_Methods):
    """A kind with everything that a reconcile distinguishes."""

    @dataclass
    class Parameters:
        """A field to observe, one to late-initialise, references."""

        size: int = 1
        colour: str | None = None
        owner: Ref[Owner] | None = None
        readers: list[Ref[Owner]] | None = None
        ticket: Ref[Ticket] | None = None


@managed(group="things.example.org", deterministic_external_name=False, kind="Ticket")
class Ticket(Bucket):
    """Its external system chooses its names."""

    @dataclass
    class Parameters:
        """One field."""

        size: int = 1


BUCKET, OWNER, TICKET = managed_kind(Bucket), managed_kind(Owner), managed_kind(Ticket)


class Crash(BaseException):
    """The process died."""


def bucket(
    spec: Mapping[str, Any] | None = None,
    kind: ManagedKind = BUCKET,
    annotations: Mapping[str, str] | None = None,
    **metadata: Any,
) -> Object:
    """A new managed resource, as the API server returns it."""
    return {
        "apiVersion": kind.kind.api_version,
        "kind": kind.kind.kind,
        "metadata": {
            "name": "mine",
            "namespace": "here",
            "uid": "u1",
            "generation": 1,
            "annotations": dict(annotations or {}),
            **metadata,
        },
        "spec": {"managementPolicies": ["*"], "forProvider": {"size": 1}, **(spec or {})},
    }


def settled(**changes: Any) -> Object:
    """A resource that has its name and finalizer."""
    annotations = {NAME: "mine", **changes.pop("annotations", {})}
    return bucket(annotations=annotations, finalizers=[FINALIZER], **changes)


@dataclass
class OneResource:
    """The API server's side and the external system's side of one resource."""

    live: Object | None
    kind: ManagedKind = BUCKET
    outside: dict[str, Object] = field(default_factory=dict)
    """What exists in the external system, by its name."""
    others: list[Object] = field(default_factory=list)
    """What references can find."""
    secret: dict[str, bytes] | None = None
    events: list[Event] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    """What was done, in order, over all reconciles."""
    fails: dict[type, str] = field(default_factory=dict)
    """Effects that fail, with the message."""
    crash_at: int | None = None
    """The process dies before this step (counted from 0 in each reconcile)."""
    created: list[str] = field(default_factory=list)
    """The names of everything that was ever created."""
    chooses_names: bool = False
    now: datetime = START
    late: Object = field(default_factory=dict)

    def reconcile(self) -> Reconciled | None:
        """One reconcile; None where the resource is gone, or where it crashed."""
        if self.live is None:
            return None
        self._step = 0
        self.now += timedelta(seconds=1)
        work = reconcile_managed(copy.deepcopy(self.live), self.kind, lambda: self.now)
        try:
            return drive(work, self._handlers())
        except Crash:
            return None

    def condition(self, type_: str) -> tuple[str, str, str]:
        """The status, reason and message of a condition."""
        for entry in ((self.live or {}).get("status") or {}).get("conditions", ()):
            if entry["type"] == type_:
                return entry["status"], entry["reason"], entry.get("message", "")
        return "", "", ""

    def recorded_events(self) -> list[tuple[str, str, str]]:
        """The events, in order."""
        return [(event.type, event.reason, event.message) for event in self.events]

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of the live resource."""
        return annotations_of(self.live or {})

    def _handlers(self) -> dict[type, Callable[[Any], Any]]:
        return {
            reconcile_effects.Save: self._counted(self._save),
            reconcile_effects.SaveAnnotations: self._counted(self._save_annotations),
            reconcile_effects.WriteStatus: self._counted(self._write_status),
            reconcile_effects.RecordEvent: self._record,
            reconcile_effects.ReadReferenced: self._read,
            reconcile_effects.ListReferenced: self._list,
            reconcile_effects.ApplyReferences: self._counted(self._apply),
            reconcile_effects.TrackUsage: self._counted(lambda effect: None),
            reconcile_effects.Connect: self._counted(lambda effect: None),
            reconcile_effects.Observe: self._counted(self._observe),
            reconcile_effects.Create: self._counted(self._create),
            reconcile_effects.Update: self._counted(self._update),
            reconcile_effects.Delete: self._counted(self._delete),
            reconcile_effects.Publish: self._counted(self._publish),
        }

    def _counted(self, handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def handle(effect: Any) -> Any:
            if self.crash_at == self._step:
                raise Crash
            self._step += 1
            self.steps.append(_describe(effect))
            if type(effect) in self.fails:
                return self._fail(effect)
            return handler(effect)

        return handle

    def _fail(self, effect: Any) -> Any:
        failure = ExternalFailure(self.fails[type(effect)])
        if isinstance(effect, reconcile_effects.Create):
            return reconcile_effects.Created(annotations_of(effect.live).get(NAME, ""), {}, failure)
        raise failure

    def _written(self, desired: Object) -> Object:
        assert self.live is not None
        changed = desired.get("spec") != self.live.get("spec")
        self.live = copy.deepcopy({**desired, "status": self.live.get("status") or {}})
        self.live["metadata"]["generation"] += changed
        if self.live["metadata"].get("deletionTimestamp") and not self.live["metadata"].get("finalizers"):
            gone, self.live = self.live, None
            return gone
        return copy.deepcopy(self.live)

    def _save(self, effect: reconcile_effects.Save) -> Object:
        return self._written(effect.desired)

    def _save_annotations(self, effect: reconcile_effects.SaveAnnotations) -> Object:
        return self._written(merge_patch(effect.live, {"metadata": {"annotations": effect.annotations}}))

    def _write_status(self, effect: reconcile_effects.WriteStatus) -> Object:
        assert self.live is not None
        self.live["status"] = copy.deepcopy(effect.status)
        return copy.deepcopy(self.live)

    def _record(self, effect: reconcile_effects.RecordEvent) -> None:
        if effect.is_repeatable or effect.event not in self.events:
            self.events.append(effect.event)

    def _read(self, effect: reconcile_effects.ReadReferenced) -> Object | None:
        matches = (other for other in self.others if other["metadata"]["name"] == effect.name)
        return next(matches, None)

    def _list(self, effect: reconcile_effects.ListReferenced) -> list[Object]:
        labels = effect.labels.items()
        return [other for other in self.others if labels <= labels_of(other).items()]

    def _apply(self, effect: reconcile_effects.ApplyReferences) -> Object:
        assert self.live is not None
        return self._written(merge_patch(self.live, {"spec": effect.spec}))

    def _observe(self, effect: reconcile_effects.Observe) -> reconcile_effects.External | None:
        name = annotations_of(effect.live)[NAME]
        if name not in self.outside:
            return None
        size = effect.live["spec"]["forProvider"].get("size")
        differing = () if self.outside[name]["size"] == size else ("size",)
        details = {"name": name.encode()}
        late = {
            key: value for key, value in self.late.items() if key not in effect.live["spec"]["forProvider"]
        }
        return reconcile_effects.External(
            AVAILABLE, not differing, differing, late, {"id": name}, details, name
        )

    def _create(self, effect: reconcile_effects.Create) -> reconcile_effects.Created:
        name = annotations_of(effect.live)[NAME]
        if self.chooses_names:
            name = f"chosen-{len(self.created)}"
        self.outside[name] = {"size": effect.live["spec"]["forProvider"]["size"]}
        self.created.append(name)
        return reconcile_effects.Created(name, {"password": b"new"})

    def _update(self, effect: reconcile_effects.Update) -> dict[str, bytes]:
        name = annotations_of(effect.live)[NAME]
        self.outside[name] = {"size": effect.live["spec"]["forProvider"]["size"]}
        return {}

    def _delete(self, effect: reconcile_effects.Delete) -> None:
        self.outside.pop(annotations_of(effect.live)[NAME], None)

    def _publish(self, effect: reconcile_effects.Publish) -> None:
        if self.secret is not None or effect.may_create:
            self.secret = {**(self.secret or {}), **effect.details}


def _describe(effect: Any) -> str:
    name = type(effect).__name__
    if isinstance(effect, reconcile_effects.Save):
        return f"{name} {', '.join(_changes(effect.live, effect.desired))}"
    if isinstance(effect, reconcile_effects.SaveAnnotations):
        return f"{name} {', '.join(sorted(key.partition('/')[2] for key in effect.annotations))}"
    return name


def _changes(live: Object, desired: Object) -> list[str]:
    old, new = annotations_of(live), annotations_of(desired)
    changes = sorted(key.partition("/")[2] for key in new if new[key] != old.get(key))
    if live["metadata"].get("finalizers") != desired["metadata"].get("finalizers"):
        changes.append("finalizers")
    if live.get("spec") != desired.get("spec"):
        changes.append("spec")
    return changes
