"""The same object at another version of its resource."""

from __future__ import annotations

from crossply.apiserver.builtin import converted
from crossply.apiserver.resources import Resource
from crossply.apiserver.world import World
from crossply.values import Object


def needs_webhook(resource: Resource) -> bool:
    """Whether versions differ in more than their name."""
    return (resource.conversion or {}).get("strategy") == "Webhook"


async def convert(world: World, resource: Resource, objects: list[Object], version: str) -> list[Object]:
    """The objects at a version; those that are there already stay as they are."""
    wanted = resource.api_version(version)
    if all(obj.get("apiVersion") == wanted for obj in objects):
        return objects
    if needs_webhook(resource) and world.convert_by_webhook is not None:
        return await world.convert_by_webhook(resource, objects, version)
    if not resource.custom:
        return [converted(resource, obj, version) for obj in objects]
    return [{**obj, "apiVersion": wanted} for obj in objects]


async def to_storage(world: World, resource: Resource, obj: Object) -> Object:
    """One object in the form in which it is stored."""
    target = resource.stored_as or resource
    return await convert_one(world, target, obj, target.storage_version)


async def convert_one(world: World, resource: Resource, obj: Object, version: str) -> Object:
    """One object at a version."""
    return (await convert(world, resource, [obj], version))[0]
