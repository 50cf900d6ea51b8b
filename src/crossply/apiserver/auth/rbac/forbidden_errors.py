"""Forbidden errors with kube-apiserver's sentences."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.apiserver.auth.rbac.role_index import Grant
from crossply.apiserver.auth.rbac.rules import GROUP
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError, forbidden
from crossply.values.goquote import quote

_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def denied(user: User, info: RequestInfo, reason: str = "") -> StatusError:
    message = _sentence(user, info).translate(_HTML)
    if reason:
        message = f"{message}: {reason}"
    return forbidden(info.resource, info.group, info.name, message)


def _sentence(user: User, info: RequestInfo) -> str:
    name = quote(user.name)
    if not info.is_resource:
        return f"User {name} cannot {info.verb} path {quote(info.path)}"
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    sentence = f"User {name} cannot {info.verb} resource {quote(resource)} in API group {quote(info.group)}"
    if info.namespace:
        return f"{sentence} in the namespace {quote(info.namespace)}"
    return f"{sentence} at the cluster scope"


def resolution_problems(missing: Iterable[Grant], resource: str = "") -> str:
    """The roles that RBAC could not resolve: bindings to roles that do not exist.

    `resource` names the missing ones; by default each is named by its kind.
    """
    problems = list(dict.fromkeys(_problem(grant, resource) for grant in missing))
    if len(problems) < 2:
        return "".join(problems)
    return f"[{', '.join(problems)}]"


def _problem(grant: Grant, resource: str) -> str:
    if grant.role_kind not in ("Role", "ClusterRole"):
        return f"unsupported role reference kind: {quote(grant.role_kind)}"
    return f"{resource or grant.role_kind.lower()}.{GROUP} {quote(grant.role_name)} not found"
