"""The connection Secret of a managed resource: details are added, and nothing is written without a change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from crossply.compose.connection_secret import encode_data, new_secret, refusal_to_write
from crossply.compose.object_metadata import controller_of, namespace_of, owner_reference, uid_of
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.core_kinds import SECRET
from crossply.kube.failures import Conflict, KubeError, without_values
from crossply.provider.cached_object_reader import WatchedObjects
from crossply.provider.secret_values import secret_data
from crossply.values import Object

MANAGER = "crossply-provider"
_TRIES = 5
_PAUSE = 0.05


class ForeignSecret(CrossplyError):
    """The Secret that a managed resource names for its connection details belongs to another owner."""

    code = "CP-884"
    hint = "name another Secret in spec.writeConnectionSecretToRef, or delete this one"


class ConnectionSecrets:
    """Writes connection Secrets."""

    def __init__(self, client: Client, objects: WatchedObjects) -> None:
        self._client = client
        self._objects = objects

    async def read(self, resource: Object) -> Mapping[str, bytes] | None:
        """What is published: empty where nothing is yet, None where the resource names no Secret."""
        address = _address(resource)
        if address is None:
            return None
        secret = await self._objects.get(SECRET, address[1], address[0])
        return {} if secret is None else secret_data(secret)

    async def publish(
        self, resource: Object, details: Mapping[str, bytes], *, may_create: bool = True
    ) -> None:
        """Add details to the Secret that a resource names, if it names one; raises ForeignSecret."""
        address = _address(resource)
        if address is None:
            return
        namespace, name = address
        current = await self._objects.get(SECRET, name, namespace)
        if current is None and not may_create:
            return
        for attempt in range(_TRIES):
            try:
                await self._write(resource, current, namespace, name, details)
            except Conflict:
                if attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(_PAUSE * attempt)
                current = await self._client.get(SECRET, name, namespace)
            except KubeError as problem:
                raise without_values(problem) from None
            else:
                return

    async def _write(
        self,
        resource: Object,
        current: Object | None,
        namespace: str,
        name: str,
        details: Mapping[str, bytes],
    ) -> None:
        if current is None:
            body = new_secret(resource, namespace, name, encode_data(details))
            self._objects.record_write(SECRET, await self._client.create(SECRET, body, MANAGER))
            return
        refusal = refusal_to_write(current, uid_of(resource))
        if refusal:
            raise ForeignSecret(refusal)
        published = secret_data(current)
        if controller_of(current) is not None and details.items() <= published.items():
            return
        version = current["metadata"]["resourceVersion"]
        references = [owner_reference(resource)]
        patch = {
            "metadata": {"resourceVersion": version, "ownerReferences": references},
            "data": encode_data(details),
        }
        written = await self._client.patch_merge(SECRET, name, patch, namespace, MANAGER)
        self._objects.record_write(SECRET, written)


def _address(resource: Object) -> tuple[str, str] | None:
    reference = (resource.get("spec") or {}).get("writeConnectionSecretToRef") or {}
    name = str(reference.get("name") or "")
    namespace = namespace_of(resource) or str(reference.get("namespace") or "default")
    return (namespace, name) if name else None
