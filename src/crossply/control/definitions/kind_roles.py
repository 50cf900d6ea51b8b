"""Roles for the kinds that a definition defines, so that RBAC knows who may use them.

Each definition has four ClusterRoles that grant nothing by themselves. Their labels let them be gathered into
larger ones: the controllers' own, and those of administrators, editors, viewers and browsers (see
`standing_roles`). They belong to the definition and go with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import orjson

from crossply.compose.events import WARNING, Event
from crossply.compose.object_metadata import controller_of, owner_reference
from crossply.control.apply_digests import contains
from crossply.control.controller_context import Plane
from crossply.control.definitions.defined_kinds import MANAGER
from crossply.kube.controller import EnqueuedKeys
from crossply.kube.core_kinds import CLUSTER_ROLE
from crossply.kube.failures import Forbidden
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.watch import Key
from crossply.values import Object

APPLY = "ApplyClusterRoles"
LABEL = "rbac.crossplane.io/aggregate-to-"
_ALL, _READ = ("*",), ("get", "list", "watch")


class Granted(NamedTuple):
    """The kinds of one definition."""

    name: str
    """The name of the CRD of the main one."""
    group: str
    plural: str
    claim_plural: str = ""


class KindRoles:
    """Keeps the roles of definitions as they should be."""

    def __init__(self, plane: Plane, roles: Informer) -> None:
        self._plane = plane
        self._roles = roles

    async def keep(self, definition: Object, granted: Granted) -> None:
        """Write those roles of a definition that are missing or were changed."""
        await self.keep_all(definition, roles_for(definition, granted))

    async def keep_all(self, owner: Object, roles: Iterable[Object]) -> None:
        """The same for roles of any owner."""
        await self._roles.synced.wait()
        for role in roles:
            data = self._roles.get("", role["metadata"]["name"])
            if data is None or not contains(orjson.loads(data), role):
                await self._write(owner, role)

    async def _write(self, owner: Object, role: Object) -> None:
        try:
            self._roles.record_write(await self._plane.as_installer.apply(CLUSTER_ROLE, role, MANAGER))
        except Forbidden as problem:
            # We may not grant what we do not have: the kinds work all the same, for those who may use them.
            message = f"cannot apply ClusterRole {role['metadata']['name']}: {problem}"
            self._plane.recorder.record(owner, Event(WARNING, APPLY, message))


def owned_roles(kind: Kind) -> EnqueuedKeys:
    """Enqueues the definition of a kind whose role was changed or deleted."""

    def keys(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        owner, name = definition_of(orjson.loads(new or old or b"{}"))
        return [("", name)] if owner == kind.kind else ()

    return keys


def definition_of(role: Object) -> tuple[str, str]:
    """The kind and name of the definition that a role belongs to; empty where it is of none."""
    owner = controller_of(role)
    if owner is None or not role["metadata"]["name"].startswith("crossplane:composite:"):
        return "", ""
    return str(owner.get("kind", "")), str(owner.get("name", ""))


def roles_for(definition: Object, granted: Granted) -> list[Object]:
    """The four roles of a definition."""
    everybody = [granted.plural, *filter(None, [granted.claim_plural])]
    editors = ("admin", "ns-admin", "edit", "ns-edit")
    return [
        _role(definition, granted, "crossplane", ("crossplane",), _system_rules(granted.group, everybody)),
        # Administrators and editors differ only in what else they may do.
        _role(definition, granted, "edit", editors, _rules(granted.group, everybody, _ALL)),
        _role(definition, granted, "view", ("view", "ns-view"), _rules(granted.group, everybody, _READ)),
        # Who browses looks for composite resources to claim; the claims are their users' own affair.
        _role(definition, granted, "browse", ("browse",), _rules(granted.group, [granted.plural], _READ)),
    ]


def _rules(group: str, plurals: list[str], verbs: tuple[str, ...]) -> list[Object]:
    return [_rule(group, [plural, f"{plural}/status"], verbs) for plural in plurals]


def _system_rules(group: str, plurals: list[str]) -> list[Object]:
    rules = []
    for plural in plurals:
        rules += _rules(group, [plural], _ALL)
        # Some clusters let only those block an owner's deletion who may set its finalizers.
        rules.append(_rule(group, [f"{plural}/finalizers"], ("update",)))
    return rules


def _rule(group: str, resources: list[str], verbs: tuple[str, ...]) -> Object:
    return {"apiGroups": [group], "resources": resources, "verbs": list(verbs)}


def _role(
    definition: Object, granted: Granted, suffix: str, gathered_by: tuple[str, ...], rules: list[Object]
) -> Object:
    return {
        "apiVersion": CLUSTER_ROLE.api_version,
        "kind": CLUSTER_ROLE.kind,
        "metadata": {
            "name": f"crossplane:composite:{granted.name}:aggregate-to-{suffix}",
            "labels": {f"{LABEL}{role}": "true" for role in gathered_by},
            "ownerReferences": [owner_reference(definition)],
        },
        "rules": rules,
    }
