"""Writing a composite resource itself: what changes of it, in one write, its status, and events about it.

Events go to its claim, too, where they are addressed to it. They are few, since each costs a write.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from crossply.compose.engine_field_paths import claim_reference
from crossply.compose.events import COMPOSE, WARNING, Event
from crossply.compose.object_metadata import annotations_of, name_of, namespace_of, uid_of
from crossply.compose.resource_names import COMPOSITE_MANAGER
from crossply.control.controller_context import Plane
from crossply.control.managed_fields_noop_check import CROSSPLANE as MANAGER
from crossply.errors import CrossplyError
from crossply.kube.core_kinds import CRD
from crossply.kube.finalizers import remove_finalizer
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.schema.crd_crossplane_fields import has_watched_refs, with_watched_refs
from crossply.values import Object
from crossply.values.merge_patch import merge_patch_to

FINALIZER = "composite.apiextensions.crossplane.io"
_IDENTITY = ("name", "namespace", "uid", "resourceVersion")
_MOST_EVENTS = 100
"""How many events may be recorded at once; a function that floods us must not hold up everybody else."""


class CompositeWrites:
    """Writes composite resources of one kind, and records them in the informer at once.

    So the next reconcile reads what was written, and the watch event of the write enqueues nothing.
    """

    def __init__(self, plane: Plane, kind: Kind, informer: Informer) -> None:
        self._plane = plane
        self._kind = kind
        self._informer = informer

    async def change(self, xr: Object, desired: Object) -> Object:
        """Write what differs from the desired metadata and spec, if anything does."""
        if desired == xr:
            return xr
        change: Object = {"metadata": {"resourceVersion": xr["metadata"]["resourceVersion"]}}
        for key in ("finalizers", "labels"):
            if desired["metadata"].get(key) != xr["metadata"].get(key):
                change["metadata"][key] = desired["metadata"][key]
        annotations, before = annotations_of(desired), annotations_of(xr)
        if annotations != before:
            change["metadata"]["annotations"] = merge_patch_to(annotations, before)
        if desired.get("spec") != xr.get("spec"):
            change["spec"] = merge_patch_to(desired["spec"], xr.get("spec") or {})
        client = self._plane.as_controller
        return self._learnt(await client.patch_merge(self._kind, name_of(xr), change, namespace_of(xr)))

    async def status(self, live: Object, status: Object) -> Object:
        """Apply the status, if it would change; the composite resource as it is then."""
        if status == (live.get("status") or {}):
            return live
        # With its version: what was decided about an older state is not written over a newer one.
        identity = {key: live["metadata"][key] for key in _IDENTITY if key in live["metadata"]}
        body = {
            "apiVersion": live["apiVersion"],
            "kind": live["kind"],
            "metadata": identity,
            "status": status,
        }
        written = await self._plane.as_controller.apply(
            self._kind, body, COMPOSITE_MANAGER, subresource="status"
        )
        return self._learnt(written)

    async def remove_finalizer(self, xr: Object) -> None:
        """Let the API server delete a composite resource."""
        await remove_finalizer(self._plane.as_controller, self._kind, xr, FINALIZER)

    def latest(self, xr: Object) -> Object:
        """The composite resource as it was last written."""
        data = self._informer.get(namespace_of(xr), name_of(xr))
        latest: Object = orjson.loads(data) if data is not None else xr
        return latest if uid_of(latest) == uid_of(xr) else xr

    def _learnt(self, xr: Object) -> Object:
        self._informer.record_write(xr)
        return xr


class WatchedRefsField:
    """`status.watchedResourceRefs`: a kind gets the field when a function first wants something watched."""

    def __init__(self, plane: Plane, kind: Kind) -> None:
        self._plane = plane
        self._kind = kind
        self._is_served = False

    async def is_served(self) -> bool:
        """Whether the API server knows the field. If not, it is added, and served soon."""
        if not self._is_served:
            crd = await self._plane.as_installer.get(CRD, self._kind.resource)
            self._is_served = crd is not None and has_watched_refs(crd)
            if crd is not None and not self._is_served:
                version = crd["metadata"]["resourceVersion"]
                body = {
                    "metadata": {"resourceVersion": version},
                    "spec": {"versions": with_watched_refs(crd)["spec"]["versions"]},
                }
                await self._plane.as_installer.patch_merge(CRD, self._kind.resource, body, "", MANAGER)
        return self._is_served


async def record_events(
    plane: Plane, xr: Object, events: Iterable[Event], progress: Iterable[tuple[Event, ...]] = ()
) -> None:
    """Record events, and each group of `progress` as one; the claim gets those that are addressed to it."""
    recorded = _bounded([*events, *(_joined(group) for group in progress if group)])
    for event in recorded:
        plane.recorder.record(xr, event)
    addressed = [event for event in recorded if event.claim_message is not None]
    claim = await _claim_of(plane, xr) if addressed else None
    if claim is None:
        return
    for event in addressed:
        plane.recorder.record(claim, event._replace(message=event.claim_message or "", claim_message=None))


def _bounded(events: list[Event]) -> list[Event]:
    """As many events as may be recorded at once, and how many there were beyond that."""
    if len(events) <= _MOST_EVENTS:
        return events
    rest = f"{len(events) - _MOST_EVENTS} more events of the same run are not recorded"
    return [*events[:_MOST_EVENTS], Event(WARNING, COMPOSE, rest)]


def _joined(group: tuple[Event, ...]) -> Event:
    """One event for several that differ in their messages only."""
    return group[0]._replace(message="; ".join(event.message for event in group))


async def _claim_of(plane: Plane, xr: Object) -> Object | None:
    ref = claim_reference(xr)
    if ref is None:
        return None
    try:
        kind = await plane.discovery.kind_for(ref["apiVersion"], ref["kind"])
        return await plane.as_controller.get(kind, ref["name"], ref.get("namespace", ""))
    except CrossplyError:
        # The composite resource has the same event. A claim that cannot be read now does not get it.
        return None
