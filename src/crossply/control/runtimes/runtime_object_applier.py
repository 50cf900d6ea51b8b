"""Applies the objects of a runtime, and skips those that are up to date."""

from __future__ import annotations

import orjson

from crossply.compose.object_metadata import controller_of, name_of, namespace_of, uid_of
from crossply.control.apply_digests import LastApplied
from crossply.control.managed_fields_noop_check import holds_completed
from crossply.control.runtimes.manifest_metadata import MANAGER
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.core_kinds import DEPLOYMENT, ENDPOINTS, SERVICE, SERVICE_ACCOUNT
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.kube.shared_informers import SharedInformers
from crossply.values import Object

ON_KUBERNETES = (SERVICE, SERVICE_ACCOUNT, DEPLOYMENT)
ON_THIS_MACHINE = (SERVICE, SERVICE_ACCOUNT, ENDPOINTS)
"""The runtime itself fills in the endpoints of a Service."""


class ObjectNotControlled(CrossplyError):
    """An object that would run a package belongs to another owner."""

    code = "CP-874"
    hint = "delete it, or set another name in a DeploymentRuntimeConfig"


class RuntimeObjects:
    """Services, service accounts and what stands behind them, in one namespace."""

    def __init__(
        self,
        client: Client,
        caches: SharedInformers,
        namespace: str,
        kinds: tuple[Kind, ...] = ON_KUBERNETES,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._caches: dict[Kind, Informer] = {
            kind: caches.acquire(kind, Selection(namespace)) for kind in kinds
        }
        self._applied = LastApplied()

    @property
    def informers(self) -> tuple[Informer, ...]:
        """To follow, and to wait for."""
        return tuple(self._caches.values())

    def get(self, kind: Kind, name: str) -> Object | None:
        """An object as we last saw it."""
        data = self._caches[kind].get(self._namespace, name)
        return None if data is None else orjson.loads(data)

    async def apply(self, kind: Kind, desired: Object) -> Object:
        """Make an object so; nothing is sent where it is so."""
        live = self.get(kind, name_of(desired))
        if live is not None and self._is_so(live, desired):
            return live
        if live is not None:
            _check_controller(live, desired)
        written = await self._client.apply(kind, desired, MANAGER)
        self._applied.remember(_timeless(written), desired)
        self._caches[kind].record_write(written)
        return written

    async def delete(self, kind: Kind, name: str, controller: str) -> None:
        """Delete an object, if it is there and this revision's."""
        live = self.get(kind, name)
        if live is None or live["metadata"].get("deletionTimestamp"):
            return
        owner = controller_of(live)
        if owner is not None and owner.get("uid") == controller:
            await self._client.delete(kind, name, namespace_of(live), "Background", uid_of(live))

    def _is_so(self, live: Object, desired: Object) -> bool:
        # A server may put a value in its own way: what our last apply left counts as what we want.
        return holds_completed(live, desired, MANAGER) or self._applied.holds(_timeless(live), desired)


def _timeless(obj: Object) -> Object:
    """The object with its generation as version, where it has one: its status may change."""
    metadata = obj["metadata"]
    version = str(metadata.get("generation") or metadata.get("resourceVersion", ""))
    return {**obj, "metadata": {**metadata, "resourceVersion": version}}


def _check_controller(live: Object, desired: Object) -> None:
    """Refuse to write what another object controls; another revision of the package may hand it over."""
    owner, own = controller_of(live), controller_of(desired)
    if owner is not None and own is not None and owner.get("kind") != own["kind"]:
        raise ObjectNotControlled(
            f"{live['kind']} {name_of(live)} is controlled by {owner['kind']} {owner.get('name')}"
        )
