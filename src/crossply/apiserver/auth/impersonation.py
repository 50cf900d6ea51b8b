"""Impersonation by the Impersonate-* headers.

Kubernetes authorizes it in two ways. Constrained impersonation needs the verb `impersonate-on:<mode>:<verb>`
on the requested resource and `impersonate:<mode>` on the user; it is tried first, and its first refusal is
what the client gets. Legacy impersonation needs the verb `impersonate` on the user, each group, the uid and
each extra value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol
from urllib.parse import unquote

from crossply.apiserver.auth.rbac import Authorizer
from crossply.apiserver.auth.rbac.forbidden_errors import denied
from crossply.apiserver.auth.system_users_and_groups import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    NODE_NAME,
    NODES,
    UNAUTHENTICATED,
    account_groups,
    split_account,
    split_node,
)
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError, bad_request
from crossply.values.goquote import quote

_EXTRA_PREFIX = "impersonate-extra-"
_EXTRA_KEY = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
_AUTHENTICATION = "authentication.k8s.io"


class Headers(Protocol):
    """Request headers, in order; a name may occur several times."""

    def items(self) -> Iterable[tuple[str, str]]: ...


@dataclass(frozen=True, slots=True)
class Impersonation:
    """The impersonated user, and the constrained verb that allowed it (empty for legacy impersonation)."""

    user: User
    constraint: str = ""


def impersonate(
    authorizer: Authorizer, requestor: User, info: RequestInfo, headers: Headers
) -> Impersonation | None:
    """The user that the requestor may impersonate for this request; None without the headers."""
    target = _requested_user(headers)
    if target is None:
        return None
    refusal: StatusError | None = None
    for mode in _constrained_modes(requestor, target):
        try:
            return _constrained(authorizer, requestor, info, target, mode)
        except StatusError as problem:
            refusal = refusal or problem
    try:
        return _legacy(authorizer, requestor, target)
    except StatusError as problem:
        raise refusal or problem from None


def _requested_user(headers: Headers) -> User | None:
    name = uid = ""
    groups: list[str] = []
    extra: dict[str, tuple[str, ...]] = {}
    for header, value in headers.items():
        key = header.lower()
        if key == "impersonate-user":
            name = name or value
        elif key == "impersonate-uid":
            uid = uid or value
        elif key == "impersonate-group":
            groups.append(value)
        elif key.startswith(_EXTRA_PREFIX):
            field = _extra_key(key.removeprefix(_EXTRA_PREFIX))
            extra[field] = (*extra.get(field, ()), value)
    user = User(name, tuple(groups), uid, extra or None)
    if name:
        return user
    if groups or uid or extra:
        raise bad_request(f"requested {_go_syntax(user)} without impersonating a user name")
    return None


def _extra_key(encoded: str) -> str:
    """The percent-decoded key; a malformed one is used as it is."""
    try:
        return unquote(encoded, errors="strict") if _percent_signs_are_good(encoded) else encoded
    except UnicodeDecodeError:
        return encoded


def _percent_signs_are_good(encoded: str) -> bool:
    hexadecimal = set("0123456789abcdefABCDEF")
    return all(len(part) >= 2 and set(part[:2]) <= hexadecimal for part in encoded.split("%")[1:])


def _go_syntax(user: User) -> str:
    """The user as Go's `%#v` prints it."""
    groups = f"[]string{_go_list(user.groups)}" if user.groups else "[]string(nil)"
    fields = (
        f"{quote(key)}:[]string{_go_list(values)}" for key, values in sorted((user.extra or {}).items())
    )
    extra = f"map[string][]string{{{', '.join(fields)}}}" if user.extra else "map[string][]string(nil)"
    return (
        f"&user.DefaultInfo{{Name:{quote(user.name)}, UID:{quote(user.uid)}, Groups:{groups}, Extra:{extra}}}"
    )


def _go_list(values: Iterable[str]) -> str:
    return "{" + ", ".join(quote(value) for value in values) + "}"


def _constrained_modes(requestor: User, user: User) -> list[str]:
    """The constrained modes that apply to this user. Nodes and service accounts imply their groups."""
    node, account = split_node(user.name), split_account(user.name)
    if node is None and account is None:
        return ["user-info"]
    if user.groups or user.uid or user.extra:
        return []
    if account is not None:
        return ["serviceaccount"]
    associated = split_account(requestor.name) and (requestor.extra or {}).get(NODE_NAME) == (node,)
    return ["associated-node", "arbitrary-node"] if associated else ["arbitrary-node"]


def _constrained(
    authorizer: Authorizer, requestor: User, info: RequestInfo, user: User, mode: str
) -> Impersonation:
    authorizer.require(requestor, replace(info, verb=f"impersonate-on:{mode}:{info.verb}"))
    verb = f"impersonate:{mode}"
    for _, asks in groupby(_questions(user, verb, _AUTHENTICATION), lambda ask: ask.resource):
        same = list(asks)
        for ask in same:
            _refuse_special(requestor, ask)
        for ask in same:
            # The association was checked already; the right must hold for every node.
            authorizer.require(requestor, replace(ask, name="*") if mode == "associated-node" else ask)
    groups = (NODES,) if split_node(user.name) else user.groups
    return Impersonation(_acting(replace(user, groups=groups)), verb)


def _refuse_special(requestor: User, ask: RequestInfo) -> None:
    """Constrained impersonation cannot become system:masters, and needs names of groups and extra values."""
    why = ""
    if ask.resource == "groups":
        why = {"": "the empty string group", MASTERS: "the system:masters group"}.get(ask.name, "")
    elif ask.resource == "userextras" and not ask.subresource:
        why = "the empty string key in extra"
    elif ask.resource == "userextras" and not _EXTRA_KEY.fullmatch(ask.subresource):
        why = "an invalid key in extra"
    elif ask.resource == "userextras" and not ask.name:
        why = "the empty string value in extra"
    if why:
        raise denied(requestor, ask, f"impersonating {why} is not allowed")


def _legacy(authorizer: Authorizer, requestor: User, user: User) -> Impersonation:
    for ask in _questions(user, "impersonate", ""):
        authorizer.require(requestor, ask)
    return Impersonation(_acting(user))


def _questions(user: User, verb: str, group: str) -> Iterator[RequestInfo]:
    """The requests to authorize for each impersonated attribute. `group` is the API group of users and
    groups.
    """

    def ask(api_group: str, resource: str, name: str, **more: Any) -> RequestInfo:
        return RequestInfo(verb, "", group=api_group, version="v1", resource=resource, name=name, **more)

    account, node = split_account(user.name), split_node(user.name) if group else None
    if account is not None:
        yield ask(group, "serviceaccounts", account[1], namespace=account[0])
    elif node is not None:
        yield ask(group, "nodes", node)
    else:
        yield ask(group, "users", user.name)
    if user.uid:
        yield ask(_AUTHENTICATION, "uids", user.uid)
    for name in user.groups:
        yield ask(group, "groups", name)
    for key, values in (user.extra or {}).items():
        for value in values:
            yield ask(_AUTHENTICATION, "userextras", value, subresource=key)


def _acting(user: User) -> User:
    """The user with the groups that Kubernetes adds."""
    groups = user.groups
    account = split_account(user.name)
    if account is not None and not groups:
        groups = account_groups(account[0])
    if user.name == ANONYMOUS.name:
        implied = UNAUTHENTICATED
    elif UNAUTHENTICATED in groups:
        return replace(user, groups=groups)
    else:
        implied = AUTHENTICATED
    return replace(user, groups=groups if implied in groups else (*groups, implied))
