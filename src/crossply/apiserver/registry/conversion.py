"""The same object at another version of its resource."""

from __future__ import annotations

from crossply.apiserver import builtin
from crossply.apiserver.endpoints.normalization import with_defaults
from crossply.apiserver.registry.resources import Resource
from crossply.apiserver.server_context import World
from crossply.apiserver.weights import encoded_weight
from crossply.values import Object

_FACTOR = 5
"""How many times as long as writing JSON it takes to bring an object to another version."""


def needs_webhook(resource: Resource) -> bool:
    """Whether versions differ in more than their name."""
    return (resource.conversion or {}).get("strategy") == "Webhook"


async def convert(world: World, resource: Resource, objects: list[Object], version: str) -> list[Object]:
    """Stored objects at a version, with the defaults and without the fields that its schema says now."""
    converted = await _converted(world, resource, objects, version)
    if not resource.custom or (converted is objects and all(_is_fresh(resource, obj) for obj in objects)):
        return converted
    target = resource.versions[version]
    return await world.background.run(
        encoded_weight(converted, _FACTOR),
        lambda: [with_defaults(resource, target, obj) for obj in converted],
    )


def _is_fresh(resource: Resource, obj: Object) -> bool:
    """Whether an object was stored after its resource became what it is, and so is as it should be."""
    return int(obj["metadata"].get("resourceVersion") or 0) >= resource.since


async def _converted(world: World, resource: Resource, objects: list[Object], version: str) -> list[Object]:
    wanted = resource.api_version(version)
    if all(obj.get("apiVersion") == wanted for obj in objects):
        return objects
    if needs_webhook(resource) and world.convert_by_webhook is not None:
        return await world.convert_by_webhook(resource, objects, version)
    if not resource.custom:
        return await world.background.run(
            encoded_weight(objects, _FACTOR),
            lambda: [builtin.converted(resource, obj, version) for obj in objects],
        )
    return [{**obj, "apiVersion": wanted} for obj in objects]


async def to_storage(world: World, resource: Resource, obj: Object) -> Object:
    """One object in the form in which it is stored."""
    target = resource.stored_as or resource
    if obj.get("apiVersion") == target.api_version(target.storage_version):
        return obj
    return await convert_one(world, target, obj, target.storage_version)


async def convert_one(world: World, resource: Resource, obj: Object, version: str) -> Object:
    """One object at a version."""
    return (await convert(world, resource, [obj], version))[0]
