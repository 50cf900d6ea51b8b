"""Reconciles one composite resource in rounds: each starts from the state that the last one left.

Every round is a whole `Rendering`, as `render` makes it. Between two rounds the desired resources become
observed ones as server-side apply would have it: fields that others wrote stay, fields that are no longer
desired go. The composite resource keeps its status.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from crossply.compose.engine_field_paths import Machinery
from crossply.compose.errors import ComposeError
from crossply.compose.in_memory_cluster import CallFunction, InMemoryCluster
from crossply.compose.in_memory_reconcile import Rendered, Rendering, identify
from crossply.compose.object_metadata import (
    RESOURCE_NAME_ANNOTATION,
    annotations_of,
    controller_of,
    metadata_of,
    name_of,
    owner_from,
    text_in,
)
from crossply.compose.prepared_composition import PreparedComposition
from crossply.errors import CrossplyError
from crossply.testing.suite import EVERYTHING, ObservedChange
from crossply.testing.suite_field_reader import SuiteError
from crossply.values import Object
from crossply.values.differences import carried
from crossply.values.merge_patch import merge_patch
from crossply.values.protobuf_struct import to_wire

_READY = ("Synced", "Ready")


class CompositionUnderTest(NamedTuple):
    """What all cases of a suite share."""

    prepared_composition: PreparedComposition
    machinery: Machinery
    call: CallFunction
    defaulted: Callable[[Object], Object]
    """Gives a composite resource the defaults of its definition."""


class InitialState(NamedTuple):
    """The state before the first round of a case."""

    xr: Object
    observed: Sequence[Object] = ()
    required: Sequence[Object] = ()
    secrets: Sequence[Object] = ()
    schemas: Sequence[Object] = ()
    definitions: Callable[[], Sequence[Object]] = tuple
    context: Object = {}  # noqa: RUF012 - read only


class RoundResult(NamedTuple):
    """The result of one round; `rendered` is None if not even a status was computed."""

    rendered: Rendered | None
    problem: CrossplyError | None = None
    xr: Object = {}  # noqa: RUF012 - read only
    """The composite resource that was reconciled, with its defaults."""

    @property
    def composed(self) -> dict[str, Object]:
        """The composed resources by their names in the pipeline."""
        return by_name(self.rendered.composed) if self.rendered is not None else {}


def resource_name(obj: Object) -> str:
    """The name that a composed resource has in the pipeline."""
    return annotations_of(obj).get(RESOURCE_NAME_ANNOTATION, "")


def by_name(objects: Iterable[Object]) -> dict[str, Object]:
    """Composed resources by their names in the pipeline; of two with one name the later counts."""
    return {resource_name(obj): obj for obj in objects}


def owned(obj: Object, xr: Object) -> Object:
    """An observed resource as the composite resource's own, which all are that it composed before."""
    if not resource_name(obj):
        raise SuiteError(
            f'observed {text_in(obj, "kind")} "{name_of(obj)}" has no annotation {RESOURCE_NAME_ANNOTATION}',
            hint="it says which resource of the pipeline an observed one is",
        )
    if controller_of(obj) is not None:
        return obj
    owners = [*(metadata_of(obj).get("ownerReferences") or []), owner_from(identify(xr)).reference]
    return {**obj, "metadata": {**metadata_of(obj), "ownerReferences": owners}}


class CaseReconciler:
    """A case under way."""

    __slots__ = ("_desired", "_observed", "_scene", "_stage", "_xr")

    def __init__(self, stage: CompositionUnderTest, scene: InitialState) -> None:
        self._stage = stage
        self._scene = scene
        self._xr = scene.xr
        self._observed = by_name(owned(obj, scene.xr) for obj in scene.observed)
        self._desired: dict[str, Object] = {}

    def round(self, changes: Iterable[ObservedChange] = (), xr_patch: Object | None = None) -> RoundResult:
        """Let things happen, then reconcile once."""
        if xr_patch is not None:
            self._xr = merge_patch(self._xr, xr_patch)
        for happening in changes:
            self._apply_change(happening)
        xr = self._stage.defaulted(self._xr)
        played = self._reconcile(xr)._replace(xr=xr)
        if played.rendered is not None:
            self._keep(played.rendered, failed=played.problem is not None)
        return played

    def _reconcile(self, xr: Object) -> RoundResult:
        stage, scene = self._stage, self._scene
        observed = list(self._observed.values())
        world = InMemoryCluster([*observed, *scene.required], scene.secrets, scene.schemas, scene.definitions)
        rendering = Rendering(stage.machinery, world, stage.call)
        try:
            return RoundResult(
                rendering.run(xr, stage.prepared_composition, observed, to_wire(scene.context))
            )
        except ComposeError as problem:
            return RoundResult(rendering.after_failure(), problem)
        except CrossplyError as problem:
            return RoundResult(None, problem)

    def _apply_change(self, happening: ObservedChange) -> None:
        names = list(self._observed) if happening.name == EVERYTHING else [happening.name]
        for name in names:
            if name not in self._observed:
                raise SuiteError(
                    f'nothing is observed of a composed resource "{name}"',
                    hint=f"observed are {', '.join(sorted(self._observed)) or 'none'}",
                )
            if happening.gone:
                del self._observed[name]
            else:
                self._observed[name] = changed(self._observed[name], happening)

    def _keep(self, rendered: Rendered, *, failed: bool) -> None:
        """The world as the round leaves it; one that failed has only written a status."""
        machinery = self._stage.machinery
        self._xr = {**self._xr, "status": rendered.composite.get("status") or {}}
        reference = {"name": self._stage.prepared_composition.composition.name}
        self._xr = machinery.with_field(self._xr, "compositionRef", reference)
        if failed:
            return
        for obj in rendered.deleted:
            self._observed.pop(resource_name(obj), None)
        desired = by_name(rendered.composed)
        for name, obj in desired.items():
            self._observed[name] = carried(self._desired.get(name, {}), obj, self._observed.get(name, {}))
        self._desired = desired


def changed(obj: Object, happening: ObservedChange) -> Object:
    """An observed resource after what happened to it."""
    if happening.patch is not None:
        obj = merge_patch(obj, happening.patch)
    status: Any = obj.get("status")
    status = status if isinstance(status, dict) else {}
    if happening.status is not None:
        status = merge_patch(status, happening.status)
    if happening.ready is not None:
        status = {**status, "conditions": _with_readiness(status.get("conditions"), happening.ready)}
    return {**obj, "status": status} if status else obj


def _with_readiness(conditions: Any, ready: bool) -> list[Object]:
    listed = conditions if isinstance(conditions, list) else []
    others = [
        condition
        for condition in listed
        if isinstance(condition, dict) and condition.get("type") not in _READY
    ]
    statuses = {"Synced": "True", "Ready": "True" if ready else "False"}
    reasons = {"Synced": "ReconcileSuccess", "Ready": "Available" if ready else "Creating"}
    return [*others, *({"type": kind, "status": statuses[kind], "reason": reasons[kind]} for kind in _READY)]
