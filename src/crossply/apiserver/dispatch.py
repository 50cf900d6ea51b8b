"""From a request about objects to the verb that serves it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from crossply.apiserver.calls import Call
from crossply.apiserver.replies import Reply
from crossply.apiserver.requests import RequestInfo, User
from crossply.apiserver.resources import Resource, Version
from crossply.apiserver.status import method_not_supported, no_such_method, no_such_path, no_such_resource
from crossply.apiserver.verbs.create import create
from crossply.apiserver.verbs.delete import delete, delete_collection
from crossply.apiserver.verbs.get import get
from crossply.apiserver.verbs.list import list_objects
from crossply.apiserver.verbs.patch import patch
from crossply.apiserver.verbs.update import update
from crossply.apiserver.verbs.watch import watch
from crossply.apiserver.watching import Watch
from crossply.apiserver.world import World

Verb = Callable[[World, Call], Awaitable[Reply]]

VERBS: dict[str, Verb] = {
    "get": get,
    "list": list_objects,
    "create": create,
    "update": update,
    "patch": patch,
    "delete": delete,
    "deletecollection": delete_collection,
}
_ABOUT_ONE = frozenset({"get", "create", "update", "patch", "delete"})
_ON_STATUS = frozenset({"get", "update", "patch"})


def find(world: World, info: RequestInfo) -> tuple[Resource, Version]:
    """The resource and version that a path names; it must be served, with this scope and subresource."""
    resource = world.registry.find(info.group, info.resource)
    version = resource.versions.get(info.version) if resource is not None else None
    if resource is None or version is None or not version.served:
        raise no_such_resource() if _is_built_in(world, info.group) else no_such_path()
    if resource.custom and info.path.startswith(f"/apis/{info.group}/{info.version}/watch/"):
        raise no_such_path()  # the deprecated way to watch is there for built-in kinds only
    if resource.namespaced and not info.namespace and info.verb in _ABOUT_ONE:
        raise no_such_path()
    if not resource.namespaced and info.namespace and info.resource != "namespaces":
        raise no_such_path()
    if info.subresource and info.subresource not in version.subresources:
        raise no_such_path()
    return resource, version


def _is_built_in(world: World, group: str) -> bool:
    """Whether a group is one of the server's own, whose unknown paths are answered with a Status."""
    return any(resource.group == group and not resource.custom for resource in world.registry.all())


async def serve(
    world: World,
    info: RequestInfo,
    user: User,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    body: bytes,
) -> tuple[Call, Reply | Watch]:
    """Do what is asked."""
    resource, version = find(world, info)
    call = Call(info, user, query, headers, body, resource, version)
    if version.deprecation_warning:
        call.warnings.append(version.deprecation_warning)
    handler = world.handlers.get((resource.key, info.subresource))
    if handler is None and info.subresource:
        handler = world.handlers.get(("*", info.subresource))
    if handler is not None:
        return call, await handler(world, call)
    _check_verb(call)
    if info.verb == "watch":
        return call, watch(world, call)
    return call, await VERBS[info.verb](world, call)


def _check_verb(call: Call) -> None:
    info = call.info
    allowed = call.version.verbs
    if info.subresource == "status":
        allowed = tuple(_ON_STATUS)
    elif info.verb == "create" and info.name:
        allowed = ()
    if info.verb not in allowed and not call.resource.custom:
        raise no_such_method()
    if info.verb not in allowed:
        raise method_not_supported(call.resource.names.plural, call.resource.group, info.verb)
