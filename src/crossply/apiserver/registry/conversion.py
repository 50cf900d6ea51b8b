"""Converts objects between the versions of their resource."""

from __future__ import annotations

from crossply.apiserver import builtin
from crossply.apiserver.event_loop_offloading import encoded_weight
from crossply.apiserver.registry.defaulting_and_pruning import with_fitting_defaults
from crossply.apiserver.served_resources import Resource
from crossply.apiserver.server_context import ServerContext
from crossply.values import Object

_FACTOR = 5
"""How many times as long as encoding JSON a conversion takes."""


def needs_webhook(resource: Resource) -> bool:
    """Whether a webhook converts between versions."""
    return (resource.conversion or {}).get("strategy") == "Webhook"


async def convert(
    context: ServerContext, resource: Resource, objects: list[Object], version: str
) -> list[Object]:
    """Stored objects at a version, with the defaults and without the unknown fields of its current schema."""
    converted = await _converted(context, resource, objects, version)
    if not resource.custom or (converted is objects and all(_is_fresh(resource, obj) for obj in objects)):
        return converted
    target = resource.versions[version]
    return await context.background.run(
        encoded_weight(converted, _FACTOR),
        lambda: [with_fitting_defaults(resource, target, obj) for obj in converted],
    )


def _is_fresh(resource: Resource, obj: Object) -> bool:
    """Whether an object was stored after the last change of its definition, and so needs no defaulting."""
    return int(obj["metadata"].get("resourceVersion") or 0) >= resource.since


async def _converted(
    context: ServerContext, resource: Resource, objects: list[Object], version: str
) -> list[Object]:
    api_version = resource.api_version(version)
    if all(obj.get("apiVersion") == api_version for obj in objects):
        return objects
    if needs_webhook(resource) and context.convert_by_webhook is not None:
        return await context.convert_by_webhook(resource, objects, version)
    if not resource.custom:
        return await context.background.run(
            encoded_weight(objects, _FACTOR),
            lambda: [builtin.converted(resource, obj, version) for obj in objects],
        )
    return [{**obj, "apiVersion": api_version} for obj in objects]


async def to_storage(context: ServerContext, resource: Resource, obj: Object) -> Object:
    """An object at its storage version."""
    target = resource.stored_as or resource
    if obj.get("apiVersion") == target.api_version(target.storage_version):
        return obj
    return await convert_one(context, target, obj, target.storage_version)


async def convert_one(context: ServerContext, resource: Resource, obj: Object, version: str) -> Object:
    return (await convert(context, resource, [obj], version))[0]
