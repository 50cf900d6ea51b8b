"""Definitions become kinds: their CRDs are applied, and their composite resources are controlled.

The definition goes last: a finalizer keeps it until its composite resources and its CRD are gone.
"""

from __future__ import annotations

from crossply.compose.events import NORMAL, WARNING, Event
from crossply.compose.object_metadata import finalizers_of
from crossply.control.composites.composite_kind_controller import CompositeKind
from crossply.control.composites.composition_selection import Compositions
from crossply.control.composites.reconcile_reasons import DEFINITION_CHANGED, STARTED
from crossply.control.controller_context import Plane
from crossply.control.definitions.defined_kinds import (
    COMPOSITE_TYPE,
    OFFERED_FINALIZER,
    DefinedKinds,
    is_controlled_by,
    is_established,
    is_served_for,
)
from crossply.control.definitions.definition_conditions import ESTABLISHED, PROTECTED, TERMINATING
from crossply.control.definitions.kind_roles import Granted, KindRoles
from crossply.control.definitions.protected_crds import ProtectedKind, why_protected
from crossply.control.kinds import DEFINITION
from crossply.kinds.definition import Definition, parse_definition
from crossply.kube.controller import Waiting
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.schema.definition_crds import CrdError, composite_crd
from crossply.values import Object

FINALIZER = "defined.apiextensions.crossplane.io"
RENDER, ESTABLISH, TERMINATE = "RenderCRD", "EstablishComposite", "TerminateComposite"
_MOST_NAMED = 3
_THE_CRD = "composite resource CustomResourceDefinition"


class DefinitionReconciler:
    """Follows the definitions of composite resources of one kind: CompositeResourceDefinitions, or others."""

    def __init__(
        self, plane: Plane, compositions: Compositions, roles: KindRoles, definitions: Kind = DEFINITION
    ) -> None:
        self._plane = plane
        self._compositions = compositions
        self._roles = roles
        self._definitions = definitions
        self._kinds: DefinedKinds[CompositeKind] = DefinedKinds(plane, definitions, FINALIZER)

    async def reconcile(self, name: str) -> None:
        """Serve what is defined, or take it away with its definition."""
        xrd = await self._plane.as_controller.get(self._definitions, name)
        if xrd is None:
            await self._kinds.stop(name)
            return
        definition = parse_definition(xrd)
        if xrd["metadata"].get("deletionTimestamp"):
            await self._remove(xrd, definition)
            return
        xrd = await self._kinds.add_finalizer_to(xrd)
        try:
            crd = await self._apply_crd(xrd)
        except ProtectedKind as problem:
            await self._refuse(xrd, problem)
            return
        if not is_established(crd):
            raise Waiting(f"waiting for composite resource CustomResourceDefinition {name} to be established")
        # Not before the kind is the definition's: naming a kind must not grant rights to it.
        await self._roles.keep(xrd, await self._granted(xrd, definition))
        await self._run(xrd, definition)
        await self._kinds.set_condition(xrd, ESTABLISHED, {COMPOSITE_TYPE: definition.composite})

    async def _apply_crd(self, xrd: Object) -> Object:
        """Apply the CRD, and report the result."""
        try:
            crd, changed = await self._kinds.apply_crd(composite_crd(xrd))
        except CrdError as problem:
            self._record(xrd, WARNING, RENDER, f"cannot render {_THE_CRD}: {problem}")
            raise
        except KubeError as problem:
            self._record(xrd, WARNING, ESTABLISH, f"cannot apply rendered {_THE_CRD}: {problem}")
            raise
        if changed:
            self._record(xrd, NORMAL, ESTABLISH, f"Applied {_THE_CRD}: {crd['metadata']['name']}")
        return crd

    async def _refuse(self, xrd: Object, problem: ProtectedKind) -> None:
        """Say why nothing comes of a definition; a change of it or of the CRD enqueues it again."""
        await self._kinds.stop(xrd["metadata"]["name"])
        self._record(xrd, WARNING, ESTABLISH, f"cannot apply rendered {_THE_CRD}: {problem}")
        await self._kinds.set_condition(xrd, PROTECTED._replace(message=str(problem)))

    async def _granted(self, xrd: Object, definition: Definition) -> Granted:
        """What the roles are about: the claim only once its CRD is the definition's, too."""
        granted = granted_by(definition)
        if not granted.claim_plural:
            return granted
        crd = await self._plane.as_controller.get(CRD, f"{granted.claim_plural}.{granted.group}")
        if crd is not None and is_served_for(crd, xrd):
            return granted
        return granted._replace(claim_plural="")

    def _record(self, xrd: Object, type_: str, reason: str, message: str) -> None:
        self._plane.recorder.record(xrd, Event(type_, reason, message))

    async def run_beside(self, name: str) -> None:
        """Run what is defined while another replica serves it."""
        xrd = await self._plane.as_controller.get(self._definitions, name)
        if xrd is None:
            await self._kinds.stop(name)
            return
        definition = parse_definition(xrd)
        version = definition.referenceable_version
        await self._kinds.run_beside(xrd, definition.name, version, lambda: self._run(xrd, definition))

    async def _run(self, xrd: Object, definition: Definition) -> None:
        started = DEFINITION_CHANGED if self._kinds.running(definition.name) else STARTED

        def make() -> CompositeKind:
            return CompositeKind(self._plane, definition, self._compositions, started)

        version = (xrd["metadata"].get("generation", 0), definition.shows_cause)
        await self._kinds.run(definition.name, version, make)

    async def _remove(self, xrd: Object, definition: Definition) -> None:
        if not _is_terminating(xrd):
            xrd = await self._kinds.set_condition(xrd, TERMINATING)
        try:
            await self._take_away(xrd, definition)
        except Waiting as reason:
            self._record(xrd, NORMAL, TERMINATE, str(reason))
            await self._kinds.set_condition(xrd, TERMINATING._replace(message=str(reason)))
            raise
        await self._kinds.stop(definition.name)
        await self._kinds.remove_finalizer_from(xrd)

    async def _take_away(self, xrd: Object, definition: Definition) -> None:
        """Delete the CRD once its objects are gone; raises Waiting until then."""
        crd = await self._plane.as_controller.get(CRD, definition.name)
        if crd is None or not is_controlled_by(crd, xrd) or why_protected(definition.name) is not None:
            # The kind has another owner: there is nothing to remove.
            return
        if not crd["metadata"].get("deletionTimestamp"):
            if is_served_for(crd, xrd):
                await self._empty(xrd, definition)
            await self._kinds.stop(definition.name)
            await self._plane.as_installer.delete(CRD, definition.name)
        raise Waiting(f"waiting for CustomResourceDefinition {definition.name} to be gone")

    async def _empty(self, xrd: Object, definition: Definition) -> None:
        """Delete cluster scoped composite resources; namespaced ones are their users', and are waited for."""
        if self._kinds.running(definition.name) is None:
            # After a restart no controller would remove the finalizers of composite resources.
            await self._run(xrd, definition)
        kind = self._kinds.running(definition.name)
        assert kind is not None
        instances = kind.instances()
        if definition.scope != "Namespaced":
            for namespace, name in instances:
                await self._plane.as_controller.delete(kind.kind, name, namespace)
        if instances:
            raise Waiting(_waiting_for(kind.kind, instances))
        remaining = kind.remaining()
        if remaining:
            # The garbage collector follows an owner only while the owner's kind is served.
            raise Waiting(f"waiting for {remaining} composed resources of {definition.name} to be gone")
        if OFFERED_FINALIZER in finalizers_of(xrd):
            # Claims are worked off by what they know of their composite resources.
            raise Waiting(f"waiting for the claims of {definition.name} to be gone")


def _is_terminating(xrd: Object) -> bool:
    conditions = (xrd.get("status") or {}).get("conditions") or ()
    return any(
        (condition["type"], condition["reason"]) == (TERMINATING.type, TERMINATING.reason)
        for condition in conditions
    )


def _waiting_for(kind: Kind, instances: list[tuple[str, str]]) -> str:
    """Which composite resources keep a definition, and the commands that list and delete them."""
    resource = kind.resource
    named = [f"{namespace}/{name}" if namespace else name for namespace, name in sorted(instances)]
    others = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    message = (
        f"waiting for defined composite resources to be deleted: {', '.join(named[:_MOST_NAMED])}{others}"
    )
    if not kind.namespaced:
        return f"{message}; they are being deleted: kubectl get {resource}"
    return (
        f"{message}; list them with kubectl get {resource} -A, and delete those of a namespace with "
        f"kubectl delete {resource} --all -n NAMESPACE"
    )


def granted_by(definition: Definition) -> Granted:
    """What the roles of a definition are about."""
    claim = definition.claim_names
    return Granted(definition.name, definition.group, definition.names.plural, claim.plural if claim else "")
