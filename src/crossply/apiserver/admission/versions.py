"""The objects of a write at the version that somebody wants to see them at."""

from __future__ import annotations

from crossply.apiserver.admission.attributes import Attributes
from crossply.apiserver.registry.conversion import convert_one
from crossply.apiserver.server_context import World
from crossply.values import Object


async def at_version(world: World, write: Attributes, version: str) -> Attributes:
    """The write with its objects at a version."""
    if version == write.version:
        return write
    return write.with_objects(
        await _converted(world, write, write.obj, version), await _converted(world, write, write.old, version)
    )


async def from_version(world: World, write: Attributes, obj: Object) -> Object:
    """An object back at the version of the request."""
    return await convert_one(world, write.call.resource, obj, write.version)


async def _converted(world: World, write: Attributes, obj: Object | None, version: str) -> Object | None:
    # Objects of subresources of another kind, such as Scale, have one version only.
    if obj is None or obj.get("kind") != write.call.resource.names.kind:
        return obj
    return await convert_one(world, write.call.resource, obj, version)
