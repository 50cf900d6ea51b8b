"""Writes of managed resources to the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from crossply.compose.object_metadata import name_of, namespace_of, uid_of
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import Conflict, NotFound, NotServed
from crossply.kube.informer import Informer
from crossply.provider.connection_secret import MANAGER
from crossply.provider.references import FIELD_MANAGER
from crossply.values import Object
from crossply.values.merge_patch import merge_patch_to

_PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds between attempts to write what must not be lost."""


class ManagedWrites:
    """Writes resources of one kind. A resource that is gone is a conflict, which is not reported."""

    def __init__(self, client: Client, informer: Informer) -> None:
        self._client = client
        self._informer = informer
        self._kind = informer.kind

    async def save(self, live: Object, desired: Object) -> Object:
        """Write what differs in metadata and spec, if the resource is still the same version."""
        changes: Object = {key: desired[key] for key in ("metadata", "spec") if key in desired}
        patch = merge_patch_to(changes, live)
        patch.setdefault("metadata", {})["resourceVersion"] = live["metadata"]["resourceVersion"]
        return await self._patch(live, patch)

    async def save_annotations(self, live: Object, annotations: Mapping[str, str]) -> Object:
        """Write annotations whatever else has changed, also if the server is away for a moment."""
        patch = {"metadata": {"uid": uid_of(live), "annotations": dict(annotations)}}
        for pause in _PAUSES:
            try:
                return await self._patch(live, patch)
            except Conflict:
                # The server may give up a patch when others write at the same time.
                if not await self._exists(live):
                    raise
            except CrossplyError:
                pass
            await asyncio.sleep(pause)
        return await self._patch(live, patch)

    async def _exists(self, live: Object) -> bool:
        current = await self._client.get(self._kind, name_of(live), namespace_of(live))
        return current is not None and uid_of(current) == uid_of(live)

    async def write_status(self, live: Object, status: Object) -> Object:
        """Replace the status, if the resource is still the same version."""
        body = {**live, "status": status}
        return self._recorded(
            await _unless_gone(self._client.update_status(self._kind, body, MANAGER)),
        )

    async def apply_references(self, live: Object, spec: Object) -> Object:
        """Apply resolved references as their own field manager."""
        metadata = {"name": name_of(live), "namespace": namespace_of(live), "uid": uid_of(live)}
        body = {
            "apiVersion": live["apiVersion"],
            "kind": live["kind"],
            "metadata": {key: value for key, value in metadata.items() if value},
            "spec": spec,
        }
        return self._recorded(await _unless_gone(self._client.apply(self._kind, body, FIELD_MANAGER)))

    async def _patch(self, live: Object, patch: Object) -> Object:
        written = self._client.patch_merge(self._kind, name_of(live), patch, namespace_of(live), MANAGER)
        return self._recorded(await _unless_gone(written))

    def _recorded(self, written: Object) -> Object:
        self._informer.record_write(written)
        return written


async def _unless_gone(write: Any) -> Object:
    try:
        written: Object = await write
    except NotServed:
        raise
    except NotFound as problem:
        raise Conflict(str(problem)) from problem
    return written
