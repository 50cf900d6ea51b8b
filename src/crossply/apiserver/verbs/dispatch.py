"""Finds the resource of a request and calls its verb.

Errors of writes wait until the state that they report is durable. A writer builds on the latest state, which
includes writes that a crash or a full disk can still revert. Without the wait, a client could get "already
exists" for an object that a read does not find, or that never was.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from crossply.apiserver.endpoints.call import Call
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
from crossply.apiserver.served_resources import Resource, Version
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import StorageFailed
from crossply.apiserver.verbs.create import create
from crossply.apiserver.verbs.delete import delete, delete_collection
from crossply.apiserver.verbs.get import get
from crossply.apiserver.verbs.list import list_objects
from crossply.apiserver.verbs.patch import patch
from crossply.apiserver.verbs.update import update
from crossply.apiserver.verbs.watch import Watch, watch

READING = frozenset(("get", "list", "watch"))
_ABOUT_STATE = (404, 409)

Answer = TypeVar("Answer")


async def durable_answer(context: ServerContext, call: Call, answer: Awaitable[Answer]) -> Answer:
    """Await a write; an error is raised once the state that it reports is durable. Raises StorageError."""
    failed_before = context.store.failed_commits
    try:
        return await answer
    except StatusError as refusal:
        for key in _shown_keys(call):
            await context.store.until_durable(key)
        if refusal.status in _ABOUT_STATE and context.store.failed_commits != failed_before:
            raise StorageFailed("the state that the request was checked against was taken back") from None
        raise


def _shown_keys(call: Call) -> list[tuple[str, str, str]]:
    """The objects that an error may report: the one that the request names, and its namespace."""
    keys = [("namespaces", "", call.namespace)] if call.namespace else []
    return [*keys, (call.resource.key, call.namespace, call.name)] if call.name else keys


Verb = Callable[[ServerContext, Call], Awaitable[Reply]]

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


def find(context: ServerContext, info: RequestInfo) -> tuple[Resource, Version]:
    """The resource and version that a path names; raises an error if they are not served."""
    resource = context.registry.find(info.group, info.resource)
    version = resource.versions.get(info.version) if resource is not None else None
    if resource is None or version is None or not version.served:
        raise no_such_resource() if _is_built_in(context, info.group) else no_such_path()
    if resource.custom:
        _check_custom_path(info, resource, version)
    else:
        _check_built_in_path(info, resource, version)
    return resource, version


def _check_custom_path(info: RequestInfo, resource: Resource, version: Version) -> None:
    if info.path.startswith(f"/apis/{info.group}/{info.version}/watch/"):
        raise no_such_path()  # the deprecated watch paths exist for built-in kinds only
    if info.namespace and not resource.namespaced:
        raise no_such_path()
    if resource.namespaced and not info.namespace and info.verb not in _ACROSS_NAMESPACES:
        raise no_such_path()
    if info.subresource and info.subresource not in version.subresources:
        raise not_found(info.resource, info.group, info.name)


def _check_built_in_path(info: RequestInfo, resource: Resource, version: Version) -> None:
    if not resource.namespaced and info.namespace and not info.is_namespace_itself:
        raise no_such_resource()
    # The name of a list or a watch comes from its field selector.
    names_object = info.name and info.verb not in (*_ACROSS_NAMESPACES, "deletecollection")
    if names_object and (version.verbs == ("create",) or (resource.namespaced and not info.namespace)):
        raise no_such_resource()
    if info.subresource and info.subresource not in version.subresources:
        raise no_such_resource()


def _is_built_in(context: ServerContext, group: str) -> bool:
    """Whether a group is built in; unknown paths in it are answered with a Status."""
    return any(not resource.custom for resource in context.registry.in_group(group))


async def serve(
    context: ServerContext,
    info: RequestInfo,
    user: User,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    body: bytes,
    method: str,
) -> tuple[Call, Reply | Watch]:
    resource, version = find(context, info)
    call = Call(info, user, query, headers, body, resource, version)
    if version.deprecation_warning:
        call.warnings.append(version.deprecation_warning)
    answer = _answered(context, call, method)
    if info.verb not in READING:
        answer = durable_answer(context, call, answer)
    try:
        return call, await answer
    except StatusError as problem:
        problem.warnings = call.warnings
        raise


async def _answered(context: ServerContext, call: Call, method: str) -> Reply | Watch:
    _check_verb(call, method)
    info = call.info
    handler = context.handlers.get((call.resource.key, info.subresource))
    if handler is None and info.subresource:
        handler = context.handlers.get(("*", info.subresource))
    if handler is not None:
        return await handler(context, call)
    if info.verb == "watch":
        return watch(context, call)
    return await VERBS[info.verb](context, call)


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
