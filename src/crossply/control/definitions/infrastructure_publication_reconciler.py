"""Published infrastructure: application teams may require in their namespaces what is defined without one.

An InfrastructurePublication offers a requirement for the kind of an InfrastructureDefinition, as a
CompositeResourceDefinition offers a claim. Requirements go first: when the publication is deleted, and when
the definition is, which therefore waits for us.
"""

from __future__ import annotations

from functools import partial

from crossply.compose.events import WARNING, Event, StatusCondition
from crossply.control.claims.claim_kind_controller import ClaimKind, claim_kind_of
from crossply.control.controller_context import Plane
from crossply.control.definitions.defined_kinds import (
    CLAIM_TYPE,
    COMPOSITE_TYPE,
    DefinedKinds,
    empty,
    is_controlled_by,
    is_established,
    is_served_for,
)
from crossply.control.definitions.definition_conditions import OFFERED, REDACTED
from crossply.control.definitions.kind_roles import Granted, KindRoles
from crossply.control.definitions.protected_crds import ProtectedKind, why_protected
from crossply.control.kinds import INFRASTRUCTURE_DEFINITION, PUBLICATION
from crossply.errors import CrossplyError
from crossply.kinds.application_and_infrastructure_definitions import parse_publication
from crossply.kinds.definition import Definition, parse_definition, published
from crossply.kube.controller import Waiting
from crossply.kube.core_kinds import CRD
from crossply.kube.informer import Informer
from crossply.schema.infrastructure_definition_crds import requirement_crd
from crossply.values import Object

FINALIZER = "offered.apiextensions.crossplane.io"
OFFER = "OfferRequirement"
BY_DEFINITION = "definition"
"""The index that finds publications by the definition that they publish."""


class PublicationReconciler:
    """Follows InfrastructurePublications."""

    def __init__(self, plane: Plane, roles: KindRoles, publications: Informer) -> None:
        self._plane = plane
        self._roles = roles
        publications.add_index(BY_DEFINITION, lambda publication: [parse_publication(publication).definition])
        self._kinds: DefinedKinds[ClaimKind] = DefinedKinds(plane, PUBLICATION, FINALIZER)
        self._definitions: DefinedKinds[ClaimKind] = DefinedKinds(plane, INFRASTRUCTURE_DEFINITION, FINALIZER)

    async def reconcile(self, name: str) -> None:
        """Serve the requirement that is offered, or take it away."""
        publication = await self._plane.as_controller.get(PUBLICATION, name)
        if publication is None:
            await self._kinds.stop(name)
            return
        definition_name = parse_publication(publication).definition
        definition = await self._plane.as_controller.get(INFRASTRUCTURE_DEFINITION, definition_name)
        if publication["metadata"].get("deletionTimestamp"):
            await self._remove(publication, definition)
        elif definition is None:
            # The watch on definitions wakes us when it comes.
            await self._refuse(publication, f'InfrastructureDefinition "{definition_name}" does not exist')
        elif definition_name != name:
            # So a definition is published at most once.
            await self._refuse(
                publication, f'a publication has the name of what it publishes, "{definition_name}"'
            )
        elif definition["metadata"].get("deletionTimestamp"):
            await self._withdraw(publication, definition)
        else:
            await self._offer(publication, definition)

    async def run_beside(self, name: str) -> None:
        """Run the requirement that is offered while another replica serves it."""
        publication = await self._plane.as_controller.get(PUBLICATION, name)
        if publication is None:
            await self._kinds.stop(name)
            return
        definition_name = parse_publication(publication).definition
        definition = await self._plane.as_controller.get(INFRASTRUCTURE_DEFINITION, definition_name)
        if definition is None:
            await self._kinds.stop(name)
            return
        infrastructure = published(parse_definition(definition))
        kind = claim_kind_of(infrastructure)

        async def run() -> None:
            await self._run(publication, definition, infrastructure)

        await self._kinds.run_beside(publication, kind.resource, kind.version, run)

    async def _offer(self, publication: Object, definition: Object) -> None:
        infrastructure = published(parse_definition(definition))
        try:
            desired = requirement_crd(publication, definition)
        except CrossplyError as problem:
            await self._refuse(publication, str(problem))
            return
        publication = await self._kinds.add_finalizer_to(publication)
        definition = await self._definitions.add_finalizer_to(definition)
        kind = claim_kind_of(infrastructure)
        try:
            crd, _ = await self._kinds.apply_crd(desired)
        except ProtectedKind as problem:
            await self._refuse(publication, str(problem))
            return
        if not is_established(crd):
            raise Waiting("waiting for requirement CustomResourceDefinition to be established")
        await self._roles.keep(publication, Granted(kind.resource, kind.group, kind.plural))
        await self._run(publication, definition, infrastructure)
        assert infrastructure.claim is not None
        types = {COMPOSITE_TYPE: infrastructure.composite, CLAIM_TYPE: infrastructure.claim}
        await self._kinds.set_condition(publication, OFFERED, types)

    async def _run(self, publication: Object, definition: Object, infrastructure: Definition) -> None:
        generations = [obj["metadata"].get("generation", 0) for obj in (publication, definition)]
        version = (*generations, infrastructure.shows_cause)
        name = publication["metadata"]["name"]
        await self._kinds.run(name, version, lambda: ClaimKind(self._plane, infrastructure))

    async def _refuse(self, publication: Object, problem: str) -> None:
        message = f"cannot offer requirement: {problem}"
        self._plane.recorder.record(publication, Event(WARNING, OFFER, message))
        await self._kinds.set_condition(
            publication, StatusCondition("Offered", "False", "CannotOffer", message)
        )

    async def _remove(self, publication: Object, definition: Object | None) -> None:
        if self._kinds.has_finalizer(publication):
            await self._kinds.remove_finalizer_from(await self._withdraw(publication, definition))

    async def _withdraw(self, publication: Object, definition: Object | None) -> Object:
        """Delete all requirements, then their CRD; then nothing of ours keeps the definition."""
        publication = await self._kinds.set_condition(publication, REDACTED)
        if definition is not None:
            infrastructure = published(parse_definition(definition))
            await self._take_away(publication, definition, infrastructure)
            await self._kinds.stop(publication["metadata"]["name"])
            self._plane.discovery.drop(claim_kind_of(infrastructure))
            await self._definitions.remove_finalizer_from(definition)
        return publication

    async def _take_away(self, publication: Object, definition: Object, infrastructure: Definition) -> None:
        kind = claim_kind_of(infrastructure)
        crd = await self._plane.as_controller.get(CRD, kind.resource)
        if crd is None or not is_controlled_by(crd, publication) or why_protected(kind.resource) is not None:
            return
        if not crd["metadata"].get("deletionTimestamp"):
            name = publication["metadata"]["name"]
            run = partial(self._run, publication, definition, infrastructure)
            if is_served_for(crd, publication):
                await empty(self._plane, kind, lambda: self._kinds.go_on(name, run))
            await self._kinds.stop(publication["metadata"]["name"])
            await self._plane.as_installer.delete(CRD, kind.resource)
        raise Waiting(f"waiting for CustomResourceDefinition {kind.resource} to be gone")
