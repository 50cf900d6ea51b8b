"""Writing composed resources: undesired ones are deleted, those that differ are applied."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from crossply.compose.composed_resources import Composed
from crossply.compose.effects import Applied
from crossply.compose.errors import ComposeError
from crossply.compose.garbage_collection import Deletion
from crossply.compose.object_metadata import labels_of, name_of, namespace_of, uid_of
from crossply.compose.resource_names import COMPOSED_MANAGER, composed_manager
from crossply.control.composite_dependency_watches import Interest
from crossply.control.composites.composed_store import ComposedStore, limit_concurrency
from crossply.control.controller_context import Plane
from crossply.control.managed_fields_noop_check import is_applied, upgrade_to_apply
from crossply.errors import CrossplyError
from crossply.kube.failures import Invalid, KubeError
from crossply.kube.kind import Kind
from crossply.values import Object

_DETACHED = ("crossplane.io/composite", "crossplane.io/claim-name", "crossplane.io/claim-namespace")


class ComposedWrites:
    """Makes composed resources what an outcome wants them to be."""

    def __init__(self, plane: Plane, store: ComposedStore) -> None:
        self._plane = plane
        self._store = store
        self._applied = store.applied

    async def collect_all(self, deletions: Iterable[Deletion]) -> None:
        """Delete what is no longer desired."""
        await asyncio.gather(*limit_concurrency(partial(self._collect, deletion) for deletion in deletions))

    async def apply_all(self, xr: Object, composed: Sequence[Composed]) -> Applied:
        """Apply what differs, side by side."""
        manager = composed_manager(name_of(xr), xr)
        applying = limit_concurrency(partial(self._apply, resource, manager) for resource in composed)
        results = await asyncio.gather(*applying, return_exceptions=True)
        refused: dict[str, str] = {}
        written: dict[str, Object] = {}
        for resource, result in zip(composed, results, strict=True):
            if isinstance(result, Invalid):
                refused[resource.name] = str(result)
            elif isinstance(result, CrossplyError):
                raise ComposeError(
                    f'cannot compose resources: cannot apply composed resource "{resource.name}": {result}',
                    hint=result.hint,
                ) from result
            elif isinstance(result, BaseException):
                raise result
            elif result is not None:
                written[resource.name] = result
        return Applied(refused, written=written)

    async def place_of(self, obj: Object) -> Interest:
        """Where an object is or is to be: whatever happens there may let it be written."""
        kind = await self._plane.discovery.kind_for(obj["apiVersion"], obj["kind"])
        return Interest(kind, namespace_of(obj), name_of(obj))

    async def _collect(self, deletion: Deletion) -> None:
        """Detach, then delete in the foreground, so that nothing of it is left behind."""
        obj = deletion.snapshot.object
        kind = await self._plane.discovery.kind_for(obj["apiVersion"], obj["kind"])
        name, namespace = name_of(obj), namespace_of(obj)
        doing = "cleanup composed resource labels of resource"
        try:
            labels = {key: None for key in _DETACHED if key in labels_of(obj)}
            version = obj["metadata"]["resourceVersion"]
            if labels:
                change = {"metadata": {"labels": labels, "resourceVersion": version}}
                detached = await self._plane.as_composer.patch_merge(kind, name, change, namespace)
                version = detached["metadata"]["resourceVersion"]
            doing = "delete composed resource"
            await self._plane.as_composer.delete(kind, name, namespace, "Foreground", uid_of(obj), version)
        except KubeError as problem:
            if problem.status != 404:
                raise ComposeError(
                    "cannot compose resources: cannot garbage collect composed resources that are no longer "
                    f'desired: cannot {doing} "{deletion.name}" (a {kind.kind} named {name}): {problem}'
                ) from problem

    async def _apply(self, resource: Composed, manager: str) -> Object | None:
        """What the API server has then; None where nothing was to be done."""
        live = resource.observed.object if resource.observed is not None else None
        desired = resource.object
        if live is not None and self._is_there(live, desired, manager):
            return None
        kind = await self._plane.discovery.kind_for(desired.get("apiVersion", ""), desired.get("kind", ""))
        if live is not None:
            live = await self._take_over(kind, live, manager)
        result = await self._plane.as_composer.apply(kind, _based_on(live, desired), manager)
        if live is not None:
            result = await self._take_over(kind, result, manager)
        self._applied.remember(result, desired)
        await self._store.record_write(kind, result)
        return result

    def _is_there(self, live: Object, desired: Object, manager: str) -> bool:
        """Whether an apply would change nothing, by the digest of the last apply or by its managed fields."""
        if self._applied.holds(live, desired) or self._applied.refresh(live, desired):
            return True
        if not is_applied(live, desired, manager):
            return False
        self._applied.remember(live, desired)
        return True

    async def _take_over(self, kind: Kind, live: Object, manager: str) -> Object:
        """Own what was written by updates, as older Crossplanes did, so that we can also remove it again."""
        managers = [
            str(managed_field.get("manager", ""))
            for managed_field in live["metadata"].get("managedFields") or ()
        ]
        our_manager = next((manager for manager in managers if manager.startswith(COMPOSED_MANAGER)), manager)
        patch = upgrade_to_apply(live, our_manager)
        if not patch:
            return live
        return await self._plane.as_composer.patch_json(kind, name_of(live), patch, namespace_of(live))


def _based_on(live: Object | None, desired: Object) -> Object:
    """The desired object with the identity and version of the live one, so that a late apply conflicts."""
    if live is None:
        return desired
    known = {key: live["metadata"][key] for key in ("uid", "resourceVersion")}
    return {**desired, "metadata": {**desired["metadata"], **known}}
