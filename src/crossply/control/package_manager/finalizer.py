"""Keeping an object from going before we let it go."""

from __future__ import annotations

from crossply.compose.metadata import name_of
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.values import Object


async def hold(
    client: Client, kind: Kind, obj: Object, finalizer: str, *, held: bool, manager: str
) -> Object:
    """The object with a finalizer, or without it; written only where that changes it."""
    present = obj["metadata"].get("finalizers") or []
    if (finalizer in present) == held:
        return obj
    wanted = [*present, finalizer] if held else [each for each in present if each != finalizer]
    # Others write finalizers too: whoever comes second must have seen the first.
    version = obj["metadata"]["resourceVersion"]
    body = {"metadata": {"finalizers": wanted or None, "resourceVersion": version}}
    return await client.patch_merge(kind, name_of(obj), body, "", manager)
