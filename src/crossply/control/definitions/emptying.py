"""Before a kind of claim can go, all its objects must: each takes its composite resource with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import orjson

from crossply.control.controller import Waiting
from crossply.control.plane import Plane
from crossply.kube.kind import Kind


async def empty(plane: Plane, kind: Kind, run: Callable[[], Awaitable[None]]) -> None:
    """Delete all objects of a kind, and wait until none is left."""
    listed = [orjson.loads(data)["metadata"] for data in (await plane.client.list(kind)).items]
    if not listed:
        return
    # After a restart nobody would work off their finalizers.
    await run()
    for metadata in listed:
        if not metadata.get("deletionTimestamp"):
            await plane.client.delete(kind, metadata["name"], metadata.get("namespace", ""))
    raise Waiting(f"waiting for {len(listed)} objects of {kind.resource} to be gone")
