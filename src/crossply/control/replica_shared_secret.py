"""A Secret that all replicas share: the first writes it, and the others read it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

import orjson

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.core_kinds import SECRET
from crossply.kube.failures import Conflict
from crossply.kube.informer import Informer
from crossply.kube.list_options import Selection
from crossply.values import Object

MANAGER = "crossply"
_TRIES = 20

Files = dict[str, bytes]
"""What is in a Secret, by key."""


class NoAgreement(CrossplyError):
    """Replicas, or another client, keep overwriting the same Secret."""

    code = "CP-870"
    hint = "find the other client that writes this Secret; if deleted, it is created again"


class SharedSecret:
    """One Secret in one namespace."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        name: str,
        cache: Informer | None = None,
        metadata: Object | None = None,
        kind: str = "Opaque",
    ) -> None:
        """With the cache of `selection_of` it is not requested repeatedly.

        `metadata` is what one that is written has beside its name; `kind` is its type.
        """
        self._client = client
        self._namespace, self._name, self._kind = namespace, name, kind
        self._cache = cache
        self._metadata = metadata or {}

    async def settle(self, due: Callable[[Files], Files | None]) -> Files:
        """The final content. `due` returns the changes for the current content; None is no change."""
        for _ in range(_TRIES):
            secret = await self._current()
            files = files_of(secret)
            changes = due(files)
            if changes is None:
                return files
            try:
                self._record_write(await self._write(secret, {**files, **changes}))
            except Conflict:
                # Another replica was quicker: theirs may do for us, too.
                await self.refresh()
        raise NoAgreement(f"cannot agree with others on the Secret {self._namespace}/{self._name}")

    async def refresh(self) -> None:
        """See the Secret itself, ahead of the watch."""
        secret = await self._fetch() if self._cache is not None else None
        if secret is not None:
            self._record_write(secret)

    async def _current(self) -> Object | None:
        if self._cache is None:
            return await self._fetch()
        data = self._cache.get(self._namespace, self._name)
        return None if data is None else orjson.loads(data)

    async def _fetch(self) -> Object | None:
        return await self._client.get(SECRET, self._name, self._namespace)

    def _record_write(self, secret: Object) -> None:
        if self._cache is not None:
            self._cache.record_write(secret)

    async def _write(self, secret: Object | None, files: Files) -> Object:
        data = data_of(files)
        if secret is not None:
            # The Secret of a function that Crossplane made goes with a revision, which others outlive.
            metadata = {**secret["metadata"], **self._metadata}
            return await self._client.update(SECRET, {**secret, "metadata": metadata, "data": data}, MANAGER)
        metadata = {"name": self._name, "namespace": self._namespace, **self._metadata}
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": self._kind, "data": data}
        return await self._client.create(SECRET, body, MANAGER)


def selection_of(namespace: str, name: str) -> Selection:
    """One Secret in a namespace."""
    return Selection(namespace, fields=f"metadata.name={name}")


def files_of(secret: Object | None) -> Files:
    """What can be read in a Secret."""
    files = {}
    for key, text in ((secret or {}).get("data") or {}).items():
        try:
            files[key] = base64.b64decode(text, validate=True)
        except (TypeError, ValueError, binascii.Error):
            continue
    return files


def data_of(files: Files) -> dict[str, str]:
    """Files as a Secret has them; one that became empty is removed."""
    return {key: base64.b64encode(content).decode() for key, content in files.items() if content}
