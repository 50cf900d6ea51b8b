"""Calls that the server makes to itself on behalf of a controller."""

from __future__ import annotations

from collections.abc import Mapping

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.served_resources import Resource
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Key

MANAGER = "kube-controller-manager"
_NAMESPACE = "kube-system"
_QUERY: Mapping[str, str] = {"fieldManager": MANAGER}


def controller_user(name: str) -> User:
    """The service account of a controller."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{_NAMESPACE}", "system:authenticated")
    return User(f"system:serviceaccount:{_NAMESPACE}:{name}", groups)


def resource_of(context: ServerContext, key: Key) -> Resource | None:
    """The resource of a stored object; None while it is not served."""
    plural, _, group = key[0].partition(".")
    return context.registry.find(group, plural)


def internal_call(
    context: ServerContext, key: Key, verb: str, user: User, *, subresource: str = "", dry_run: bool = False
) -> Call | None:
    """A call about one object at its storage version; None while its resource is not served."""
    resource = resource_of(context, key)
    if resource is None:
        return None
    version = resource.versions[resource.storage_version]
    # As in a URL, the namespace of a Namespace is its own name.
    namespace = key[2] if key[0] == "namespaces" else key[1]
    info = RequestInfo(
        verb, "", resource.group, version.name, namespace, resource.names.plural, key[2], subresource
    )
    query = {**_QUERY, "dryRun": "All"} if dry_run else _QUERY
    return Call(info, user, query, {}, b"", resource, version)
