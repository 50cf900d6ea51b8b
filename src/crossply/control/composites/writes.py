"""Writing a composite resource itself: what changes of it, in one write, and its status."""

from __future__ import annotations

import orjson

from crossply.compose.conditions import put_conditions, read_conditions, set_conditions
from crossply.compose.events import StatusCondition
from crossply.compose.metadata import name_of, namespace_of, uid_of
from crossply.compose.naming import COMPOSITE_MANAGER
from crossply.control.composites.circuit import Circuit
from crossply.control.plane import Plane
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.merge_patch import merge_patch_to

_IDENTITY = ("name", "namespace", "uid", "resourceVersion")


class CompositeWrites:
    """Writes composite resources of one kind, and lets the cache know at once.

    So the next run builds on what was written, and its echo wakes nobody.
    """

    def __init__(self, plane: Plane, kind: Kind, cache: Informer, circuit: Circuit) -> None:
        self._plane = plane
        self._kind = kind
        self._cache = cache
        self._circuit = circuit

    async def change(self, xr: Object, wish: Object) -> Object:
        """Make it what is wished for; nothing is written where it is that already."""
        if wish == xr:
            return xr
        change: Object = {"metadata": {"resourceVersion": xr["metadata"]["resourceVersion"]}}
        for key in ("finalizers", "labels"):
            if wish["metadata"].get(key) != xr["metadata"].get(key):
                change["metadata"][key] = wish["metadata"][key]
        if wish.get("spec") != xr.get("spec"):
            change["spec"] = merge_patch_to(wish["spec"], xr.get("spec") or {})
        client = self._plane.own
        return self._learnt(await client.patch_merge(self._kind, name_of(xr), change, namespace_of(xr)))

    async def status(self, xr: Object, status: Object, changes: tuple[StatusCondition, ...]) -> Object:
        """Apply the status, if it would change; the composite resource as it is then."""
        live = xr.get("status") or {}
        kept = put_conditions(read_conditions(status), read_conditions(live))
        generation = xr["metadata"].get("generation", 0)
        responsive = self._circuit.condition((namespace_of(xr), name_of(xr)))
        conditions = set_conditions(kept, (responsive, *changes), self._plane.now(), generation)
        wish = {**status, "conditions": conditions}
        if wish == live:
            return xr
        # With its version: what was decided about an older state is not written over a newer one.
        identity = {key: xr["metadata"][key] for key in _IDENTITY if key in xr["metadata"]}
        body = {"apiVersion": xr["apiVersion"], "kind": xr["kind"], "metadata": identity, "status": wish}
        written = await self._plane.own.apply(self._kind, body, COMPOSITE_MANAGER, subresource="status")
        return self._learnt(written)

    def latest(self, xr: Object) -> Object:
        """The composite resource as it was last written."""
        data = self._cache.get(namespace_of(xr), name_of(xr))
        latest: Object = orjson.loads(data) if data is not None else xr
        return latest if uid_of(latest) == uid_of(xr) else xr

    def _learnt(self, xr: Object) -> Object:
        self._cache.record_write(xr)
        return xr
