"""The roles that exist whatever is defined: who may administer, edit, view and browse a control plane.

`crossplane-admin`, `-edit`, `-view` and `-browse` gather all roles with their label: a base, which is here,
and those of every definition (see `kind_roles`). Bind one of them to a user, and they may use every new kind.
"""

from __future__ import annotations

import asyncio
import logging
import operator

from crossply.compose.object_metadata import name_of
from crossply.control.definitions.core_crd_installation import install_or_keep
from crossply.control.definitions.kind_roles import LABEL
from crossply.kube.client import Client
from crossply.kube.core_kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING
from crossply.kube.failures import Conflict, Forbidden
from crossply.kube.kind import Kind
from crossply.values import Object

ADMINISTRATORS = "crossplane:masters"
"""The group that may do everything with the control plane."""

_log = logging.getLogger("crossply.control")
_RBAC = "rbac.authorization.k8s.io"
_READ, _ALL = ["get", "list", "watch"], ["*"]
_BASES = {
    "admin": (
        (("",), ("events",), _READ),
        (("",), ("secrets", "namespaces"), _ALL),
        ((_RBAC,), ("clusterroles", "roles"), _READ),
        # They may grant to others what they may do themselves.
        ((_RBAC,), ("clusterrolebindings", "rolebindings"), _ALL),
        (("apiextensions.crossplane.io",), ("*",), _ALL),
        (("pkg.crossplane.io",), ("*",), _ALL),
        (("protection.crossplane.io",), ("*",), _ALL),
        (("ops.crossplane.io",), ("*",), _ALL),
        (("apiextensions.k8s.io",), ("customresourcedefinitions",), _READ),
    ),
    "edit": (
        (("",), ("events",), _READ),
        (("",), ("secrets",), _ALL),
        (("",), ("namespaces",), _READ),
        (("apiextensions.crossplane.io",), ("*",), _ALL),
        (("pkg.crossplane.io",), ("*",), _ALL),
        (("protection.crossplane.io",), ("*",), _ALL),
        (("ops.crossplane.io",), ("*",), _ALL),
    ),
    "view": (
        (("",), ("events",), _READ),
        (("",), ("namespaces",), _READ),
        (("apiextensions.crossplane.io",), ("*",), _READ),
        (("pkg.crossplane.io",), ("*",), _READ),
        (("protection.crossplane.io",), ("*",), _READ),
        (("ops.crossplane.io",), ("*",), _READ),
    ),
    "browse": (
        (("",), ("events",), _READ),
        (("apiextensions.crossplane.io",), ("*",), _READ),
    ),
}


async def install(client: Client, manager: str) -> None:
    """Apply all of them; without the right to do so, they are part of the installation.

    Roles that another installer wrote, such as Crossplane's chart, lose nothing.
    """
    desired = [(CLUSTER_ROLE, role) for role in standing_roles()]
    desired.append((CLUSTER_ROLE_BINDING, standing_binding()))
    await asyncio.gather(
        *(install_or_keep(client, kind, obj, _install(client, kind, obj, manager)) for kind, obj in desired)
    )


async def _install(client: Client, kind: Kind, desired: Object, manager: str) -> None:
    name = desired["metadata"]["name"]
    try:
        try:
            await client.apply(kind, desired, manager, force=False)
        except Conflict:
            await _complete(client, kind, desired, manager)
    except Forbidden as problem:
        _log.info("%s is left as it is: %s", name, problem)


async def _complete(client: Client, kind: Kind, desired: Object, manager: str) -> None:
    """Add the rules or subjects that another installer's object lacks."""
    live = await client.get(kind, name_of(desired)) or {}
    field = "rules" if kind is CLUSTER_ROLE else "subjects"
    present = live.get(field) or []
    covers = _grants if kind is CLUSTER_ROLE else operator.eq
    missing = [
        entry for entry in desired.get(field) or () if not any(covers(other, entry) for other in present)
    ]
    if missing:
        version = {"resourceVersion": live["metadata"]["resourceVersion"]}
        change = {"metadata": version, field: [*present, *missing]}
        await client.patch_merge(kind, name_of(desired), change, "", manager)


def _grants(rule: Object, desired: Object) -> bool:
    """Whether a rule grants all that another one does."""
    if rule.get("resourceNames"):
        return False
    return all(
        set(desired[key]) <= set(rule.get(key) or ()) or "*" in (rule.get(key) or ())
        for key in ("apiGroups", "resources", "verbs")
    )


def standing_roles() -> list[Object]:
    """The gathering roles, each with its base."""
    return [role for name in _BASES for role in (_gathering(name), _base(name))]


def _gathering(name: str) -> Object:
    selector = {"matchLabels": {f"{LABEL}{name}": "true"}}
    return {**_head(f"crossplane-{name}"), "aggregationRule": {"clusterRoleSelectors": [selector]}}


def _base(name: str) -> Object:
    role = _head(f"crossplane:aggregate-to-{name}")
    role["metadata"]["labels"] = {f"{LABEL}{name}": "true"}
    role["rules"] = [
        {"apiGroups": list(groups), "resources": list(resources), "verbs": verbs}
        for groups, resources, verbs in _BASES[name]
    ]
    return role


def _head(name: str) -> Object:
    return {"apiVersion": CLUSTER_ROLE.api_version, "kind": CLUSTER_ROLE.kind, "metadata": {"name": name}}


def standing_binding() -> Object:
    """Who is an administrator without further ado."""
    return {
        "apiVersion": CLUSTER_ROLE_BINDING.api_version,
        "kind": CLUSTER_ROLE_BINDING.kind,
        "metadata": {"name": "crossplane-admin"},
        "roleRef": {"apiGroup": _RBAC, "kind": CLUSTER_ROLE.kind, "name": "crossplane-admin"},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": ADMINISTRATORS}],
    }
