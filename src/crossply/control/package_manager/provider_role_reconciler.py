"""Keeps the roles of Providers: see `provider_roles` for what they grant.

Providers of a family use each other's kinds, such as the ProviderConfig that one of them brings. So the roles
of each grant the kinds of all that come from the same organization of a registry, as Crossplane's do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import orjson

from crossply.compose.object_metadata import is_being_deleted, is_paused, labels_of, name_of
from crossply.control.calls.function_revision_runtime import ACTIVE
from crossply.control.controller_context import Plane
from crossply.control.definitions.kind_roles import KindRoles
from crossply.control.kinds import PROVIDER_REVISION
from crossply.control.package_manager.provider_roles import roles_of_provider
from crossply.kube.controller import Controller, EnqueuedKeys, Spec, Watch, by_name, controller_name, owned_by
from crossply.kube.core_kinds import CLUSTER_ROLE
from crossply.kube.informer import Informer
from crossply.kube.watch import Key
from crossply.values import Object
from crossply.xpkg.failures import BadReference
from crossply.xpkg.image_reference import parse

FAMILY = "pkg.crossplane.io/provider-family"
_OF_FAMILY = "family"


class ProviderRoleReconciler:
    """Keeps the roles of each active revision in line with what its family brought."""

    def __init__(self, plane: Plane) -> None:
        self._revisions = plane.informers.acquire(PROVIDER_REVISION)
        self._revisions.add_index(_OF_FAMILY, _families)
        self._roles = KindRoles(plane, plane.informers.acquire(CLUSTER_ROLE))

    async def reconcile(self, name: str) -> None:
        """Write the roles of one revision that are missing or were changed."""
        data = self._revisions.get("", name)
        revision: Object = orjson.loads(data) if data is not None else {}
        if not revision or is_paused(revision) or is_being_deleted(revision):
            return
        await self.keep(revision)

    async def keep(self, revision: Object) -> None:
        """The same for a revision whose status says what it brought."""
        if revision["spec"].get("desiredState") != ACTIVE:
            return
        capabilities = (revision.get("status") or {}).get("capabilities") or ()
        references = family_references(revision, self._family(revision))
        await self._roles.keep_all(revision, roles_of_provider(revision, references, capabilities))

    def _family(self, revision: Object) -> Iterator[Object]:
        for family in _families(revision):
            yield from (orjson.loads(data) for data in self._revisions.by(_OF_FAMILY, family))


def provider_role_controller(plane: Plane) -> Controller:
    """Reconciles revisions of Providers, also when one of their family, or one of their roles, changes."""
    revisions, roles = plane.informers.acquire(PROVIDER_REVISION), plane.informers.acquire(CLUSTER_ROLE)
    reconciler = ProviderRoleReconciler(plane)
    spec = Spec(
        name=controller_name("provider-roles", PROVIDER_REVISION),
        reconciles=revisions,
        reconcile=by_name(reconciler.reconcile),
        watches=[Watch(revisions, _siblings(revisions)), Watch(roles, owned_by(PROVIDER_REVISION))],
    )
    return Controller(plane, spec)


def family_references(revision: Object, family: Iterable[Object]) -> list[Object]:
    """What a revision brought, and what others of its family did."""
    own_source = _organization(revision)
    members = [
        member
        for member in family
        if name_of(member) != name_of(revision) and own_source and _organization(member) == own_source
    ]
    references: dict[tuple[str, str], Object] = {}
    for member in (revision, *members):
        for reference in (member.get("status") or {}).get("objectRefs") or ():
            references.setdefault((reference["kind"], reference["name"]), reference)
    return list(references.values())


def _organization(revision: Object) -> str:
    """The registry and the first part of the repository that a package comes from."""
    try:
        reference = parse(str(revision["spec"].get("image", "")))
    except BadReference:
        return ""
    return f"{reference.registry}/{reference.repository.partition('/')[0]}"


def _families(revision: Object) -> tuple[str, ...]:
    family = labels_of(revision).get(FAMILY)
    return (family,) if family else ()


def _siblings(revisions: Informer) -> EnqueuedKeys:
    """A change of what a revision brought concerns all of its family."""

    def keys(key: Key, old: bytes | None, new: bytes | None) -> Iterable[Key]:
        before, after = (orjson.loads(data) if data else {} for data in (old, new))
        if _brought(before) == _brought(after):
            return ()
        families = {*_families(before), *_families(after)}
        return [
            ("", name_of(orjson.loads(data)))
            for family in families
            for data in revisions.by(_OF_FAMILY, family)
        ]

    return keys


def _brought(revision: Object) -> object:
    return (revision.get("status") or {}).get("objectRefs")
