"""Reconciles ManagedResourceDefinitions: the CRD of one that is active is there.

A CRD goes, by owner references, when neither its definition nor the revision of its Provider is there. A
definition that was reconciled costs no request until it or its CRD changes.

The controllers may write every CRD. A user who may create a definition must not gain that right for kinds of
the API server, of the control plane, or of another owner: `check_ownership` decides that without I/O.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import orjson

from crossply.compose.conditions import with_conditions
from crossply.compose.events import NORMAL, PAUSED, WARNING, Event, StatusCondition
from crossply.compose.object_metadata import (
    controller_of,
    is_being_deleted,
    is_paused,
    metadata_of,
    name_of,
    uid_of,
)
from crossply.control.controller_context import Plane
from crossply.control.definitions.defined_kinds import is_established
from crossply.control.definitions.protected_crds import ProtectedKind, check_definable
from crossply.control.kinds import MANAGED_DEFINITION
from crossply.control.managed_definitions.conversion import ACTIVE, crd_of
from crossply.control.managed_definitions.definition_informer import state_of
from crossply.control.managed_fields_noop_check import CROSSPLANE, is_applied, upgrade_to_apply
from crossply.kube.controller import Requeue
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import Conflict, KubeError
from crossply.kube.informer import Informer
from crossply.values import Object

MANAGER = "apiextensions.crossplane.io/managed"
ESTABLISHED = StatusCondition("Established", "True", "EstablishedManagedResource")
PENDING = StatusCondition("Established", "Unknown", "PendingManagedResource")
BLOCKED = StatusCondition("Established", "False", "PendingManagedResource")
NOT_ACTIVE = StatusCondition("Established", "False", "InactiveManagedResource")
TERMINATING = StatusCondition("Established", "False", "TerminatingManagedResource")
APPLY = "ApplyCustomResourceDefinition"
_APPLIED = Event(NORMAL, APPLY, "Successfully applied CustomResourceDefinition")
_SERVING_SECONDS = 1.0
_PAUSE = Event(NORMAL, PAUSED, "Reconciliation is paused via the pause annotation")


class _Applied(NamedTuple):
    """A CRD that was applied."""

    versions: tuple[str, int]
    """The version of its definition, and its own generation."""
    time: float
    """Of the monotonic clock."""


class ManagedDefinitionReconciler:
    """Keeps CRDs in line with their definitions."""

    def __init__(self, plane: Plane, definitions: Informer, crds: Informer) -> None:
        """Informers of summaries of definitions, and of the metadata of CRDs."""
        self._plane, self._definitions, self._crds = plane, definitions, crds
        self._settled: dict[str, tuple[str, int]] = {}
        """The versions of a definition and its CRD that are in line, by name."""
        self._applied: dict[str, _Applied] = {}
        """What was applied and is not served yet, by name."""

    async def reconcile(self, name: str) -> Requeue | None:
        """Bring one definition in line."""
        data = self._definitions.get("", name)
        if data is None:
            self._settled.pop(name, None)
            self._applied.pop(name, None)
            return None
        definition: Object = orjson.loads(data)
        if is_being_deleted(definition):
            await self._report(definition, TERMINATING)
        elif is_paused(definition):
            self._plane.recorder.record(definition, _PAUSE)
        elif state_of(definition) != ACTIVE:
            await self._report(definition, NOT_ACTIVE)
        elif not self._is_settled(definition):
            return await self._establish(definition)
        return None

    def _is_settled(self, definition: Object) -> bool:
        """Whether neither the definition nor its CRD changed since they were in line."""
        settled = self._settled.get(name_of(definition))
        crd = self._crds.get("", name_of(definition))
        if settled is None or crd is None or settled[0] != metadata_of(definition)["resourceVersion"]:
            return False
        return _version(orjson.loads(crd)) <= settled[1]

    async def _establish(self, summary: Object) -> Requeue | None:
        name = name_of(summary)
        live = await self._plane.as_controller.get(CRD, name)
        applied = self._applied.get(name)
        if live is not None and applied is not None and applied.versions == _versions(summary, live):
            # Nothing but the status of the CRD changed since it was applied.
            return await self._write_conditions(summary, live)
        definition = await self._plane.as_controller.get(MANAGED_DEFINITION, name)
        if definition is None or state_of(definition) != ACTIVE:
            return None
        try:
            crd = await self._apply(definition, live)
        except Conflict:
            raise
        except ProtectedKind as problem:
            await self._fail(definition, problem)  # a change of the CRD enqueues it again
            return None
        except KubeError as problem:
            await self._fail(definition, problem)
            raise
        if crd is not live:
            self._applied[name] = _Applied(_versions(definition, crd), time.monotonic())
        return await self._write_conditions(definition, crd)

    async def _write_conditions(self, definition: Object, crd: Object) -> Requeue | None:
        """Report whether the API server serves a CRD; one that was just applied is served in a moment."""
        name = name_of(definition)
        if is_established(crd):
            self._applied.pop(name, None)
            written = await self._report(definition, ESTABLISHED)
            self._settled[name] = (metadata_of(written)["resourceVersion"], _version(crd))
            return None
        applied = self._applied.get(name)
        passed = _SERVING_SECONDS if applied is None else time.monotonic() - applied.time
        if passed < _SERVING_SECONDS:
            return Requeue(_SERVING_SECONDS - passed)
        await self._report(definition, PENDING)
        return None

    async def _apply(self, definition: Object, live: Object | None) -> Object:
        desired = crd_of(definition)
        check_ownership(definition, live)
        if live is not None and is_applied(live, desired, MANAGER):
            return live
        if live is not None:
            patch = upgrade_to_apply(live, MANAGER)
            if patch:
                await self._plane.as_installer.patch_json(CRD, name_of(desired), patch)
        written = await self._plane.as_installer.apply(CRD, desired, MANAGER)
        self._plane.recorder.record(definition, _APPLIED)
        return written

    async def _fail(self, definition: Object, problem: ProtectedKind | KubeError) -> None:
        self._plane.recorder.record(definition, Event(WARNING, APPLY, str(problem)))
        message = "unable to apply CustomResourceDefinition, see events"
        await self._report(definition, BLOCKED._replace(message=message))

    async def _report(self, definition: Object, condition: StatusCondition) -> Object:
        desired = with_conditions(definition, (condition,), self._plane.now())
        if desired["status"] == definition.get("status"):
            return definition
        body = {
            "metadata": {"resourceVersion": metadata_of(definition)["resourceVersion"]},
            "status": {"conditions": desired["status"]["conditions"]},
        }
        written = await self._plane.as_installer.patch_merge(
            MANAGED_DEFINITION, name_of(definition), body, "", CROSSPLANE, "status"
        )
        self._definitions.record_write(written)
        return written


def _versions(definition: Object, crd: Object) -> tuple[str, int]:
    return metadata_of(definition)["resourceVersion"], int(metadata_of(crd).get("generation") or 0)


def _version(obj: Object) -> int:
    version = str(metadata_of(obj).get("resourceVersion", ""))
    return int(version) if version.isdigit() else -1


def check_ownership(definition: Object, live: Object | None) -> None:
    """Raise ProtectedKind where a definition may not have the CRD of its name."""
    check_definable(name_of(definition))
    if live is None or _is_owner(definition, live):
        return
    controller, installer = controller_of(live), controller_of(definition)
    if controller is None:
        if installer is None:
            raise ProtectedKind(
                f"CustomResourceDefinition {name_of(live)} exists already and is not the definition's",
                hint="delete the CustomResourceDefinition, or the ManagedResourceDefinition",
            )
    elif controller.get("uid") != (installer or {}).get("uid"):
        owner = f"{controller.get('kind')} {controller.get('name')} (UID {controller.get('uid')})"
        raise ProtectedKind(
            f"{name_of(live)} is already controlled by {owner}",
            hint="delete what controls the CustomResourceDefinition, or the ManagedResourceDefinition",
        )


def _is_owner(definition: Object, crd: Object) -> bool:
    owners = metadata_of(crd).get("ownerReferences") or ()
    return any(owner.get("uid") == uid_of(definition) for owner in owners)
