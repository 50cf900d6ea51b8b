"""Finding the used and the using resource of a Usage: by name, or once and for all by selector."""

from __future__ import annotations

import orjson

from crossply.compose.object_metadata import controller_of, name_of, namespace_of
from crossply.control.controller_context import Plane
from crossply.control.usages.usage_model import Usage, UsageResource
from crossply.control.usages.usage_watches import AwaitedResources, Presence, Selected, Served, Wait
from crossply.errors import CrossplyError
from crossply.kube.discovery import UnknownKind
from crossply.kube.failures import NotServed
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.values import Object
from crossply.values.goformat import sprintf


class ResourceMissing(CrossplyError):
    """A resource that a Usage names or selects is not there; the Usage is enqueued when it appears."""

    code = "CP-810"
    hint = "check apiVersion, kind, name, namespace and labels in spec.of and spec.by of the Usage"

    def __init__(self, message: str, waits: tuple[Wait, ...] = ()) -> None:
        super().__init__(message)
        self.waits = waits
        """What to wait for; nothing where only another spec can help."""


class UsedResources:
    """Looks for resources that Usages are about."""

    def __init__(self, plane: Plane, watches: AwaitedResources) -> None:
        self._plane = plane
        self._watches = watches

    async def used(self, usage: Usage) -> tuple[Kind, Object]:
        """The used resource; from the watch, if it is marked already."""
        kind, namespace = await self._used_address(usage)
        marked = await self._watches.in_use(usage.key, kind, namespace, usage.of.name)
        return kind, marked or await self._get(kind, namespace, usage.of)

    async def used_now(self, usage: Usage) -> tuple[Kind, Object]:
        """The used resource as it is at this moment."""
        kind, namespace = await self._used_address(usage)
        return kind, await self._get(kind, namespace, usage.of)

    async def find(self, party: UsageResource) -> tuple[Kind, Object]:
        """A resource as it is at this moment."""
        kind, namespace = await self._address(party)
        return kind, await self._get(kind, namespace, party)

    async def select(self, usage: Usage, party: UsageResource) -> Object:
        """A reference to the first resource that the selector of a party finds."""
        if not party.selects:
            raise ResourceMissing("no selector defined for resolving")
        kind = await self._kind(party)
        selector = ",".join(f"{key}={value}" for key, value in sorted(party.labels.items()))
        selection = Selection(party.namespace if kind.namespaced else "", selector, metadata_only=True)
        candidates = [
            orjson.loads(data)
            for data in (await self._plane.as_controller.list_selected(kind, selection)).items
        ]
        for obj in candidates:
            if not party.same_controller or _same_controller(obj, usage.obj):
                return _reference(obj, usage)
        message = sprintf("no %q found matching labels: %q", [party.kind, dict(party.labels)])
        if candidates:
            message += " and with same controller reference"
        raise ResourceMissing(message, (Selected(kind, selection),))

    async def _used_address(self, usage: Usage) -> tuple[Kind, str]:
        """Where the used resource is; a namespaced Usage protects nothing that is cluster scoped."""
        kind, namespace = await self._address(usage.of)
        if usage.kind.namespaced and not kind.namespaced:
            raise ResourceMissing(f"{usage.of.kind} is cluster scoped: use a ClusterUsage to protect it")
        return kind, namespace

    async def _address(self, party: UsageResource) -> tuple[Kind, str]:
        kind = await self._kind(party)
        if kind.namespaced and not party.namespace:
            raise ResourceMissing("an empty namespace may not be set when a resource name is provided")
        return kind, party.namespace if kind.namespaced else ""

    async def _kind(self, party: UsageResource) -> Kind:
        if party.api_version.count("/") > 1:
            raise ResourceMissing(f"unexpected GroupVersion string: {party.api_version}")
        try:
            return await self._plane.discovery.kind_for(party.api_version, party.kind)
        except UnknownKind as problem:
            raise self._unknown(party, problem) from None

    def _unknown(self, party: UsageResource, problem: CrossplyError) -> ResourceMissing:
        return ResourceMissing(str(problem), (Served(party.api_version, party.kind),))

    async def _get(self, kind: Kind, namespace: str, party: UsageResource) -> Object:
        try:
            obj = await self._plane.as_controller.get(kind, party.name, namespace)
        except NotServed as problem:
            self._plane.discovery.drop(kind)
            raise self._unknown(party, problem) from None
        if obj is None:
            wait = Presence(kind, namespace, party.name, present=True)
            raise ResourceMissing(f'{kind.resource} "{party.name}" not found', (wait,))
        return obj


def _reference(obj: Object, usage: Usage) -> Object:
    """What is kept of a resource that was selected; of another namespace than the Usage's, that too."""
    namespace = namespace_of(obj)
    if usage.kind.namespaced and namespace != namespace_of(usage.obj):
        return {"name": name_of(obj), "namespace": namespace}
    return {"name": name_of(obj)}


def _same_controller(one: Object, other: Object) -> bool:
    first, second = controller_of(one), controller_of(other)
    return first is not None and second is not None and first.get("uid") == second.get("uid")
