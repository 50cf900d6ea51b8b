"""Events on managed resources whose Provider does not run, so that `kubectl describe` explains them.

Resources without a status are listed, a few of each kind, while a Provider is unhealthy for some time.
"""

from __future__ import annotations

import time

import orjson

from crossply.compose.events import WARNING, Event
from crossply.compose.object_metadata import is_being_deleted, uid_of
from crossply.control.controller_context import Plane
from crossply.control.kinds import MANAGED_DEFINITION, PROVIDER, PROVIDER_REVISION
from crossply.kube.controller import Controller, Requeue, Spec, by_name, controller_name
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.resource_tree.node import Node
from crossply.resource_tree.reconciling_provider import provider_origin
from crossply.values import Object

REASON = "ProviderNotRunning"
_FIRST_SECONDS, _NEXT_SECONDS = 15.0, 30.0
"""A Provider that just starts is not reported."""
_MOST_KINDS, _MOST_RESOURCES = 100, 50


class UnreconciledResources:
    """Reports the resources of Providers that do not run."""

    def __init__(self, plane: Plane, first_seconds: float = _FIRST_SECONDS) -> None:
        self._plane = plane
        self._first_seconds = first_seconds
        self.providers = plane.informers.acquire(PROVIDER)
        self._due: dict[str, float] = {}
        """When the resources of an unhealthy Provider are reported."""
        self._reported: dict[str, set[str]] = {}
        """The UIDs of what was reported for a Provider: each resource is reported once."""

    async def reconcile(self, name: str) -> Requeue | None:
        """Report on the resources of one Provider, if it does not run."""
        data = self.providers.get("", name)
        provider: Object = {} if data is None else orjson.loads(data)
        origin, is_running = provider_origin(Node(provider))
        if not provider or is_running or is_being_deleted(provider):
            self._due.pop(name, None)
            self._reported.pop(name, None)
            return None
        due = self._due.setdefault(name, time.monotonic() + self._first_seconds)
        if time.monotonic() < due:
            return Requeue(due - time.monotonic())
        unreconciled = await self._unreconciled(provider)
        reported = self._reported.get(name, set())
        for resource in unreconciled:
            if uid_of(resource) not in reported:
                self._plane.recorder.record(resource, Event(WARNING, REASON, origin.why))
        self._reported[name] = {uid_of(resource) for resource in unreconciled}
        self._due[name] = time.monotonic() + _NEXT_SECONDS
        return Requeue(_NEXT_SECONDS)

    async def _unreconciled(self, provider: Object) -> list[Object]:
        """Resources without a status, of the kinds that the Provider brought."""
        current = (provider.get("status") or {}).get("currentRevision") or ""
        revision = await self._plane.as_controller.get(PROVIDER_REVISION, current) if current else None
        references = ((revision or {}).get("status") or {}).get("objectRefs") or ()
        names = [
            reference["name"]
            for reference in references
            if reference["kind"] in (CRD.kind, MANAGED_DEFINITION.kind)
        ]
        return [resource for name in names[:_MOST_KINDS] for resource in await self._without_status(name)]

    async def _without_status(self, crd_name: str) -> list[Object]:
        try:
            crd = await self._plane.as_controller.get(CRD, crd_name)
            if crd is None:
                return []
            listed = await self._plane.as_controller.list(_stored_kind(crd), limit=_MOST_RESOURCES)
        except KubeError:
            return []  # it may not be served, or not be ours to read
        resources = [orjson.loads(data) for data in listed.items[:_MOST_RESOURCES]]
        return [resource for resource in resources if _is_managed(resource) and not resource.get("status")]


def unreconciled_controller(plane: Plane) -> Controller:
    """The controller that reports on resources of Providers that do not run."""
    reconciler = UnreconciledResources(plane)
    spec = Spec(
        name=controller_name("unreconciled", PROVIDER),
        reconciles=reconciler.providers,
        reconcile=by_name(reconciler.reconcile),
    )
    return Controller(plane, spec)


def _is_managed(resource: Object) -> bool:
    spec = resource.get("spec")
    return isinstance(spec, dict) and "forProvider" in spec


def _stored_kind(crd: Object) -> Kind:
    spec = crd["spec"]
    [version, *_] = [version["name"] for version in spec["versions"] if version["storage"]]
    names = spec["names"]
    return Kind(spec["group"], version, names["kind"], names["plural"], spec["scope"] == "Namespaced")
