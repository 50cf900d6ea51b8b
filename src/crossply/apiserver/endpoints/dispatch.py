"""From a request about objects to the verb that serves it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.durable_replies import READING, durable_answer
from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import (
    StatusError,
    bad_request,
    method_not_supported,
    no_such_method,
    no_such_path,
    no_such_resource,
    not_found,
)
from crossply.apiserver.registry.resources import Resource, Version
from crossply.apiserver.server_context import World
from crossply.apiserver.verbs.create import create
from crossply.apiserver.verbs.delete import delete, delete_collection
from crossply.apiserver.verbs.get import get
from crossply.apiserver.verbs.list import list_objects
from crossply.apiserver.verbs.patch import patch
from crossply.apiserver.verbs.update import update
from crossply.apiserver.verbs.watch import watch
from crossply.apiserver.watching import Watch

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
_ON_STATUS = ("get", "update", "patch")
_ACROSS_NAMESPACES = ("list", "watch")
_NAMED = ("update", "patch")
_SUBRESOURCE_VERBS = {"token": ("create",), "finalize": ("update",)}


def find(world: World, info: RequestInfo) -> tuple[Resource, Version]:
    """The resource and version that a path names; it must be served, with this scope and subresource."""
    resource = world.registry.find(info.group, info.resource)
    version = resource.versions.get(info.version) if resource is not None else None
    if resource is None or version is None or not version.served:
        raise no_such_resource() if _is_built_in(world, info.group) else no_such_path()
    if resource.custom:
        _check_custom_path(info, resource, version)
    else:
        _check_built_in_path(info, resource, version)
    return resource, version


def _check_custom_path(info: RequestInfo, resource: Resource, version: Version) -> None:
    """Refuse a path that a custom resource does not have."""
    if info.path.startswith(f"/apis/{info.group}/{info.version}/watch/"):
        raise no_such_path()  # the deprecated way to watch is there for built-in kinds only
    if info.namespace and not resource.namespaced:
        raise no_such_path()
    if resource.namespaced and not info.namespace and info.verb not in _ACROSS_NAMESPACES:
        raise no_such_path()
    if info.subresource and info.subresource not in version.subresources:
        raise not_found(info.resource, info.group, info.name)


def _check_built_in_path(info: RequestInfo, resource: Resource, version: Version) -> None:
    """Refuse a path that a built-in kind does not have."""
    if not resource.namespaced and info.namespace and not info.is_namespace_itself:
        raise no_such_resource()
    # The name of a list or a watch is one that its field selector selects.
    names_object = info.name and info.verb not in (*_ACROSS_NAMESPACES, "deletecollection")
    if names_object and (version.verbs == ("create",) or (resource.namespaced and not info.namespace)):
        raise no_such_resource()
    if info.subresource and info.subresource not in version.subresources:
        raise no_such_resource()


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
    method: str,
) -> tuple[Call, Reply | Watch]:
    """Do what is asked."""
    resource, version = find(world, info)
    call = Call(info, user, query, headers, body, resource, version)
    if version.deprecation_warning:
        call.warnings.append(version.deprecation_warning)
    answer = _answered(world, call, method)
    if info.verb not in READING:
        answer = durable_answer(world, call, answer)
    try:
        return call, await answer
    except StatusError as problem:
        problem.warnings = call.warnings
        raise


async def _answered(world: World, call: Call, method: str) -> Reply | Watch:
    _check_verb(call, method)
    info = call.info
    handler = world.handlers.get((call.resource.key, info.subresource))
    if handler is None and info.subresource:
        handler = world.handlers.get(("*", info.subresource))
    if handler is not None:
        return await handler(world, call)
    if info.verb == "watch":
        return watch(world, call)
    return await VERBS[info.verb](world, call)


def _check_verb(call: Call, method: str) -> None:
    info, resource = call.info, call.resource
    if not resource.custom:
        if method == "HEAD" or not _has_built_in_method(call):
            raise no_such_method()
    elif info.verb not in (_ON_STATUS if info.subresource else call.version.verbs):
        raise method_not_supported(resource.names.plural, resource.group, info.verb)
    elif info.verb in _NAMED and not info.name:
        raise bad_request("name must be provided")


def _has_built_in_method(call: Call) -> bool:
    info = call.info
    if info.subresource:
        return info.verb in _SUBRESOURCE_VERBS.get(info.subresource, _ON_STATUS)
    if call.resource.namespaced and not info.namespace:
        return info.verb in _ACROSS_NAMESPACES
    has_name = bool(info.name)
    if (info.verb in _NAMED and not has_name) or (info.verb == "create" and has_name):
        return False
    return info.verb in call.version.verbs
