"""What a definition brings: the CRDs of its kinds and roles for them, as its controllers would apply them."""

from __future__ import annotations

from crossply.control.definitions.defined_kinds import MANAGER
from crossply.control.definitions.definition_reconciler import granted_by
from crossply.control.definitions.kind_roles import roles_for
from crossply.control.kinds import APPLICATION_DEFINITION, DEFINITION, INFRASTRUCTURE_DEFINITION, PUBLICATION
from crossply.kinds.definition import parse_definition
from crossply.kinds.infrastructure_definitions import parse_publication
from crossply.kube.client import Client
from crossply.kube.core_kinds import CLUSTER_ROLE, CRD
from crossply.kube.failures import Forbidden
from crossply.schema.crd_crossplane_fields import keep_watched_refs
from crossply.schema.definition_crds import claim_crd, composite_crd, offers_claim
from crossply.schema.first_design_crds import requirement_crd
from crossply.values import Object

DEFINITIONS = (DEFINITION, INFRASTRUCTURE_DEFINITION, APPLICATION_DEFINITION)
_BY_PLURAL = {kind.plural: kind for kind in (*DEFINITIONS, PUBLICATION)}


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
