"""Writing a composite resource itself: what changes of it, in one write, and its status."""

from __future__ import annotations

import orjson

from crossply.compose.object_metadata import annotations_of, name_of, namespace_of, uid_of
from crossply.compose.resource_names import COMPOSITE_MANAGER
from crossply.control.controller_context import Plane
from crossply.control.managed_fields import CROSSPLANE as MANAGER
from crossply.kube.core_kinds import CRD
from crossply.kube.finalizers import remove_finalizer
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.schema.crd_crossplane_fields import has_watched_refs, with_watched_refs
from crossply.values import Object
from crossply.values.merge_patch import merge_patch_to

FINALIZER = "composite.apiextensions.crossplane.io"
_IDENTITY = ("name", "namespace", "uid", "resourceVersion")


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
