"""Prevents privilege escalation by writes of roles and bindings.

A write of a role is refused unless the user has every right in it (or the verb `escalate` on it), a write of
a binding unless the user has every right of the role (or the verb `bind` on it). Members of system:masters
may do anything. The checks use the object as it would be stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from crossply.apiserver.auth.rbac import Authorizer
from crossply.apiserver.auth.rbac.forbidden_errors import resolution_problems
from crossply.apiserver.auth.rbac.rule_coverage import FULL_AUTHORITY, TooManyParts, compact, uncovered
from crossply.apiserver.auth.rbac.rules import GROUP, Rule, parse_rules, quoted
from crossply.apiserver.auth.system_users_and_groups import MASTERS
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.endpoints.status_errors import StatusError, forbidden, not_found
from crossply.values import Object
from crossply.values.goquote import quote

_BOUND = {"ClusterRole": "clusterroles", "Role": "roles"}
_GARBAGE_FIELDS = ("ownerReferences", "finalizers", "selfLink", "managedFields")


def check_write(
    authorizer: Authorizer, user: User, info: RequestInfo, body: Object, previous: Object | None
) -> None:
    """Refuse a write of a role or binding that grants more than the user has; other kinds pass."""
    if info.group != GROUP or MASTERS in user.groups:
        return
    if previous is not None and _only_garbage_fields(body, previous):
        return
    if info.resource in ("roles", "clusterroles"):
        _check_role(authorizer, user, info, body, previous)
    elif info.resource in ("rolebindings", "clusterrolebindings"):
        _check_binding(authorizer, user, info, body)


def _check_role(
    authorizer: Authorizer, user: User, info: RequestInfo, role: Object, previous: Object | None
) -> None:
    if authorizer.authorize(user, replace(info, verb="escalate", subresource="")).allowed:
        return
    owned = authorizer.rules_for(user, info.namespace)
    _require_covered(authorizer, user, info, _name(role), owned, parse_rules(role))
    if not _aggregates(role) and not (previous and _aggregates(previous)):
        return
    # An aggregating role can include any rule, now and later.
    if uncovered(owned, FULL_AUTHORITY):
        raise _refused(info, _name(role), "must have cluster-admin privileges to use the aggregationRule")


def _check_binding(authorizer: Authorizer, user: User, info: RequestInfo, binding: Object) -> None:
    reference = binding.get("roleRef") or {}
    kind, name = reference.get("kind", ""), reference.get("name", "")
    if kind in _BOUND and _may_bind(authorizer, user, info.namespace, reference):
        return
    rules = authorizer.role_rules(kind, info.namespace, name)
    if rules is None:
        raise _no_role(info, kind, name)
    owned = authorizer.rules_for(user, info.namespace)
    _require_covered(authorizer, user, info, _name(binding), owned, rules)


def _may_bind(authorizer: Authorizer, user: User, namespace: str, reference: Object) -> bool:
    ask = RequestInfo(
        "bind",
        "",
        group=reference.get("apiGroup", GROUP),
        version="*",
        namespace=namespace,
        resource=_BOUND[reference["kind"]],
        name=reference.get("name", ""),
    )
    return authorizer.authorize(user, ask).allowed


def _require_covered(
    authorizer: Authorizer,
    user: User,
    info: RequestInfo,
    name: str,
    owned: Sequence[Rule],
    granted: Iterable[Rule],
) -> None:
    try:
        missing = uncovered(owned, granted)
    except TooManyParts:
        why = "its rules combine too many API groups, resources, verbs and names to be checked: name fewer"
        raise _refused(info, name, why) from None
    if not missing:
        return
    listed = "\n".join(sorted({str(rule) for rule in compact(missing)}))
    message = (
        f"user {quote(user.name)} (groups={quoted(user.groups)}) is attempting to grant RBAC permissions "
        f"not currently held:\n{listed}"
    )
    problems = resolution_problems(authorizer.missing_roles(user, info.namespace), info.resource)
    if problems:
        message += f"; resolution errors: [{problems}]"
    raise _refused(info, name, message)


def _refused(info: RequestInfo, name: str, why: str) -> StatusError:
    return forbidden(info.resource, info.group, name, why)


def _no_role(info: RequestInfo, kind: str, name: str) -> StatusError:
    if kind in _BOUND:
        # kube-apiserver names the binding's resource here, not the role's.
        return not_found(info.resource, GROUP, name)
    return StatusError(500, "", f"unsupported role reference kind: {quote(kind)}")


def _name(body: Object) -> str:
    name: str = (body.get("metadata") or {}).get("name", "")
    return name


def _aggregates(role: Object) -> bool:
    rule = role.get("aggregationRule")
    return isinstance(rule, dict) and bool(rule.get("clusterRoleSelectors"))


def _only_garbage_fields(body: Object, previous: Object) -> bool:
    """Whether a write changes only fields that the garbage collector changes."""
    return _without_garbage_fields(body) == _without_garbage_fields(previous)


def _without_garbage_fields(body: Object) -> dict[str, Any]:
    metadata = body.get("metadata") or {}
    remaining = {field: value for field, value in metadata.items() if field not in _GARBAGE_FIELDS}
    return {**body, "metadata": remaining}
