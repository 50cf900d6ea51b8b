"""The controllers of definitions, Compositions and their revisions: what each reconciles and watches."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.control.composites.composition_selection import Compositions
from crossply.control.controller_context import Plane
from crossply.control.definitions.claim_offer_reconciler import ClaimOfferReconciler
from crossply.control.definitions.composition_reconciler import CompositionReconciler
from crossply.control.definitions.definition_indexes import (
    BY_CLAIM_CRD,
    BY_COMPOSITE_CRD,
    BY_REQUIREMENT_CRD,
    CRD_METADATA,
    add_crd_index,
)
from crossply.control.definitions.definition_reconciler import DefinitionReconciler
from crossply.control.definitions.infrastructure_publication_reconciler import (
    BY_DEFINITION,
    PublicationReconciler,
)
from crossply.control.definitions.kind_roles import KindRoles, owned_roles
from crossply.control.definitions.valid_pipeline_reconciler import PipelineReconciler
from crossply.control.kinds import (
    APPLICATION_DEFINITION,
    COMPOSITION,
    DEFINITION,
    INFRASTRUCTURE_DEFINITION,
    PUBLICATION,
    REVISION,
)
from crossply.kube.controller import (
    Controller,
    Spec,
    Watch,
    by_name,
    controller_name,
    indexed_by,
    owned_by,
)
from crossply.kube.core_kinds import CLUSTER_ROLE, CRD
from crossply.kube.kind import Kind


def definition_controllers(plane: Plane) -> list[Controller]:
    """The controllers that make kinds of definitions, and revisions of Compositions."""
    informers = plane.informers
    compositions = Compositions(informers.acquire(COMPOSITION), informers.acquire(REVISION))
    roles = KindRoles(plane, informers.acquire(CLUSTER_ROLE))
    definitions = (DEFINITION, INFRASTRUCTURE_DEFINITION, APPLICATION_DEFINITION)
    return [
        _revisions(plane),
        _pipelines(plane),
        *(_composites(plane, compositions, roles, kind) for kind in definitions),
        _claims(plane),
        _publications(plane, roles),
    ]


def _revisions(plane: Plane) -> Controller:
    spec = Spec(
        name=controller_name("revisions", COMPOSITION),
        reconciles=plane.informers.acquire(COMPOSITION),
        reconcile=by_name(CompositionReconciler(plane).reconcile),
    )
    return Controller(plane, spec)


def _pipelines(plane: Plane) -> Controller:
    reconciler = PipelineReconciler(plane)
    spec = Spec(
        name=controller_name("pipelines", REVISION),
        reconciles=reconciler.revisions,
        reconcile=by_name(reconciler.reconcile),
    )
    controller = Controller(plane, spec)

    def enqueue_callers(function: str) -> None:
        for name in reconciler.calling(function):
            controller.enqueue_name(name)

    plane.functions.subscribe(enqueue_callers)
    return controller


def _composites(plane: Plane, compositions: Compositions, roles: KindRoles, kind: Kind) -> Controller:
    """A definition's composite resources: their CRD, their roles, and the controller of their kind."""
    reconciler = DefinitionReconciler(plane, compositions, roles, kind)
    definitions = plane.informers.acquire(kind)
    add_crd_index(definitions, BY_COMPOSITE_CRD)
    spec = Spec(
        name=controller_name("defined", kind),
        reconciles=definitions,
        reconcile=by_name(reconciler.reconcile),
        elsewhere=by_name(reconciler.run_beside),
        watches=[
            *_crd_watches(plane, kind),
            Watch(plane.informers.acquire(CRD, CRD_METADATA), indexed_by(definitions, BY_COMPOSITE_CRD)),
            Watch(plane.informers.acquire(CLUSTER_ROLE), owned_roles(kind)),
        ],
    )
    return Controller(plane, spec)


def _claims(plane: Plane) -> Controller:
    """The claim that a definition offers: its CRD, and the controller of its kind."""
    reconciler = ClaimOfferReconciler(plane)
    definitions = plane.informers.acquire(DEFINITION)
    add_crd_index(definitions, BY_CLAIM_CRD)
    spec = Spec(
        name=controller_name("offered", DEFINITION),
        reconciles=definitions,
        reconcile=by_name(reconciler.reconcile),
        elsewhere=by_name(reconciler.run_beside),
        watches=[
            *_crd_watches(plane, DEFINITION),
            Watch(plane.informers.acquire(CRD, CRD_METADATA), indexed_by(definitions, BY_CLAIM_CRD)),
        ],
    )
    return Controller(plane, spec)


def _publications(plane: Plane, roles: KindRoles) -> Controller:
    publications = plane.informers.acquire(PUBLICATION)
    definitions = plane.informers.acquire(INFRASTRUCTURE_DEFINITION)
    reconciler = PublicationReconciler(plane, roles, publications)
    add_crd_index(definitions, BY_REQUIREMENT_CRD)
    spec = Spec(
        name=controller_name("published", PUBLICATION),
        reconciles=publications,
        reconcile=by_name(reconciler.reconcile),
        elsewhere=by_name(reconciler.run_beside),
        watches=[
            *_crd_watches(plane, PUBLICATION),
            # A publication has the name of what it publishes.
            Watch(plane.informers.acquire(CRD, CRD_METADATA), indexed_by(definitions, BY_REQUIREMENT_CRD)),
            Watch(plane.informers.acquire(CLUSTER_ROLE), owned_roles(PUBLICATION)),
            Watch(definitions, indexed_by(publications, BY_DEFINITION)),
        ],
    )
    return Controller(plane, spec)


def _crd_watches(plane: Plane, owner: Kind) -> Iterable[Watch]:
    """A CRD that is changed or deleted is restored."""
    return [Watch(plane.informers.acquire(CRD, CRD_METADATA), owned_by(owner))]
