"""Finalizers keep an object from going before a controller lets it go."""

from __future__ import annotations

from crossply.compose.object_metadata import finalizers_of, name_of, namespace_of
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.values import Object


async def add_finalizer(client: Client, kind: Kind, obj: Object, finalizer: str, manager: str) -> Object:
    """The object with a finalizer; written only where it has it not yet."""
    finalizers = finalizers_of(obj)
    if finalizer in finalizers:
        return obj
    return await _write(client, kind, obj, [*finalizers, finalizer], manager)


async def remove_finalizer(
    client: Client, kind: Kind, obj: Object, finalizer: str, manager: str = ""
) -> Object:
    """The object without a finalizer; written only where it still has it. Raises NotFound if it is gone."""
    finalizers = finalizers_of(obj)
    if finalizer not in finalizers:
        return obj
    return await _write(client, kind, obj, [other for other in finalizers if other != finalizer], manager)


async def _write(client: Client, kind: Kind, obj: Object, finalizers: list[str], manager: str) -> Object:
    # Others write finalizers too: the second writer must have read the first write.
    version = obj["metadata"]["resourceVersion"]
    patch = {"metadata": {"finalizers": finalizers or None, "resourceVersion": version}}
    return await client.patch_merge(kind, name_of(obj), patch, namespace_of(obj), manager)
