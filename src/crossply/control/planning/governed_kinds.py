"""The kinds that the control plane governs: composite resources and claims, each with its reconciler.

The reconcilers are the controllers' own; here they work for the dry run, one object at a time. What a
definition brings (CRDs of its kinds and roles for them) is applied as its controllers would.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from crossply.compose.engine_field_paths import Machinery
from crossply.compose.object_metadata import controller_of, namespace_of, text_in
from crossply.control.claims.claim_kind_controller import ClaimKind, claim_kind_of
from crossply.control.composites.composite_kind_controller import CompositeKind, kind_of, machinery_of
from crossply.control.composites.composition_selection import Compositions
from crossply.control.controller_context import Plane
from crossply.control.definitions.defined_kinds import MANAGER
from crossply.control.definitions.definition_reconciler import granted_by
from crossply.control.definitions.kind_roles import roles_for
from crossply.control.kinds import APPLICATION_DEFINITION, DEFINITION, INFRASTRUCTURE_DEFINITION, PUBLICATION
from crossply.control.planning.api_urls import ObjectKey, key_of
from crossply.kinds.application_and_infrastructure_definitions import parse_publication
from crossply.kinds.definition import Definition, parse_definition, published
from crossply.kube.client import Client
from crossply.kube.core_kinds import CLUSTER_ROLE, CRD
from crossply.kube.discovery import UnknownKind
from crossply.kube.failures import Forbidden, NotServed
from crossply.kube.kind import Kind
from crossply.schema.crd_crossplane_fields import keep_watched_refs
from crossply.schema.definition_crds import claim_crd, composite_crd, offers_claim
from crossply.schema.infrastructure_definition_crds import requirement_crd
from crossply.values import Object
from crossply.values.api_version import api_group

_DEFINITIONS = (DEFINITION, INFRASTRUCTURE_DEFINITION, APPLICATION_DEFINITION)
_BY_PLURAL = {kind.plural: kind for kind in (*_DEFINITIONS, PUBLICATION)}


class Governed(NamedTuple):
    """One kind, and the definition that it comes from."""

    kind: Kind
    definition: Definition
    is_claim: bool

    @property
    def machinery(self) -> Machinery:
        """Where the composite resource keeps the engine's fields."""
        return machinery_of(self.definition)


class GovernedKinds:
    """All of them, as the dry run defines them."""

    def __init__(self, plane: Plane, compositions: Compositions) -> None:
        self._plane = plane
        self._compositions = compositions
        self._known: dict[tuple[str, str], Governed] = {}
        self._reconcilers: dict[Kind, CompositeKind | ClaimKind] = {}

    async def load(self) -> None:
        """Read every definition."""
        for kind in _DEFINITIONS:
            try:
                listed = await self._plane.as_controller.list(kind)
            except NotServed:
                continue
            for data in listed.items:
                definition = parse_definition(orjson.loads(data))
                # Whether it is published shows in whether its requirements are served.
                await self._define(published(definition) if kind == INFRASTRUCTURE_DEFINITION else definition)

    async def _define(self, definition: Definition) -> None:
        await self._add(Governed(kind_of(definition), definition, is_claim=False))
        if definition.claim_names is not None:
            await self._add(Governed(claim_kind_of(definition), definition, is_claim=True))

    async def _add(self, governed: Governed) -> None:
        kind = governed.kind
        try:
            await self._plane.discovery.kind_for(kind.api_version, kind.kind)
        except UnknownKind:
            return
        self._known[kind.group, kind.plural] = governed

    def at(self, key: ObjectKey) -> Governed | None:
        """What governs an object."""
        return self._known.get((key.group, key.plural))

    def composite(self, api_version: str, kind: str) -> Governed | None:
        """The composite resources of a type."""
        for governed in self._known.values():
            if (
                not governed.is_claim
                and governed.kind.kind == kind
                and api_group(api_version) == governed.kind.group
            ):
                return governed
        return None

    def defined_by(self, name: str) -> list[Governed]:
        """The kinds that a definition defines."""
        return [governed for governed in self._known.values() if governed.definition.name == name]

    def owner_key(self, obj: Object) -> ObjectKey | None:
        """The composite resource that controls an object."""
        owner = controller_of(obj)
        governed = (
            self.composite(text_in(owner, "apiVersion"), text_in(owner, "kind"))
            if owner is not None
            else None
        )
        if owner is None or governed is None:
            return None
        return key_of(governed.kind, text_in(owner, "name"), namespace_of(obj))

    async def reconcile(self, governed: Governed, obj: Object) -> None:
        """Do what the controller would do for one object."""
        await self._reconciler(governed).reconcile(obj)

    def _reconciler(self, governed: Governed) -> CompositeKind | ClaimKind:
        reconciler = self._reconcilers.get(governed.kind)
        if reconciler is None:
            reconciler = (
                ClaimKind(self._plane, governed.definition)
                if governed.is_claim
                else CompositeKind(self._plane, governed.definition, self._compositions)
            )
            self._reconcilers[governed.kind] = reconciler
        return reconciler


def is_definition(group: str, plural: str) -> bool:
    """Whether a kind is one of those that define kinds."""
    return group == DEFINITION.group and plural in _BY_PLURAL


async def define(client: Client, plural: str, name: str) -> None:
    """Apply what a definition brings; it is read at the version at which controllers read it."""
    definition = await client.get(_BY_PLURAL[plural], name)
    if definition is None:
        return
    if plural == PUBLICATION.plural:
        await _publish(client, definition)
    else:
        await _bring(client, definition)


async def _publish(client: Client, publication: Object) -> None:
    name = parse_publication(publication).definition
    definition = await client.get(INFRASTRUCTURE_DEFINITION, name)
    if definition is not None:
        await client.apply(CRD, requirement_crd(publication, definition), MANAGER)


async def _bring(client: Client, definition: Object) -> None:
    crd = composite_crd(definition)
    live = await client.get(CRD, crd["metadata"]["name"])
    await client.apply(CRD, keep_watched_refs(crd, live), MANAGER)
    if definition["kind"] == DEFINITION.kind and offers_claim(definition):
        await client.apply(CRD, claim_crd(definition), MANAGER)
    for role in roles_for(definition, granted_by(parse_definition(definition))):
        try:
            await client.apply(CLUSTER_ROLE, role, MANAGER)
        except Forbidden:
            # Who plans may not grant what the controllers may; the kinds are the same.
            return
