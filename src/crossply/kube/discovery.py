"""Which kinds the server serves, under which names; asked once, and again when a kind is not among them."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable

import orjson

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.api_version import split_api_version

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
SHORTEST_PAUSE = 1.0
"""Unknown kinds cause at most one round of discovery in so many seconds."""


class UnknownKind(CrossplyError):
    """The API server does not serve this kind."""

    code = "CP-711"
    hint = "check the apiVersion and kind, and that the CustomResourceDefinition is installed"


class Discovery:
    """The kinds of one server."""

    def __init__(self, client: Client, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._by_kind: dict[tuple[str, str], Kind] = {}
        self._last_refresh = float("-inf")
        self._asking = asyncio.Lock()

    async def kind_for(self, api_version: str, kind: str) -> Kind:
        """The kind that objects call themselves by; UnknownKind where it is not served."""
        resolved = await self._find((api_version, kind))
        if resolved is None:
            raise UnknownKind(f'no matches for kind "{kind}" in version "{api_version}"')
        return resolved

    def add(self, kind: Kind) -> None:
        """Note a kind that is known to be served without asking, as after its definition was established."""
        self._by_kind[kind.api_version, kind.kind] = kind

    def drop(self, kind: Kind) -> None:
        """Forget a kind that is no longer served."""
        self._by_kind.pop((kind.api_version, kind.kind), None)

    def doubt(self) -> None:
        """Kinds have come or gone: ask before saying that there is none."""
        self._last_refresh = float("-inf")

    async def refresh(self) -> None:
        """Read the kinds from the server again."""
        groups = await asyncio.gather(self._kinds_at("/api"), self._kinds_at("/apis"))
        self._last_refresh = self._clock()
        self._by_kind.clear()
        for kind in itertools.chain(*groups):
            self.add(kind)

    async def _find(self, key: tuple[str, str]) -> Kind | None:
        kinds = self._by_kind
        if key not in kinds:
            async with self._asking:
                if key not in kinds and self._clock() - self._last_refresh >= SHORTEST_PAUSE:
                    await self.refresh()
        return kinds.get(key)

    async def _kinds_at(self, path: str) -> list[Kind]:
        reply = await self._client.request("GET", path, accept=f"{AGGREGATED},application/json")
        document = orjson.loads(reply.data)
        if document.get("kind") == "APIGroupDiscoveryList":
            return list(_aggregated(document))
        return await self._fetch_versions(path, document)

    async def _fetch_versions(self, path: str, document: Object) -> list[Kind]:
        """The kinds of a server that answers in the old form: one document a version."""
        names = list(document.get("versions") or ())
        for group in document.get("groups") or ():
            names += [version["groupVersion"] for version in group["versions"]]
        replies = await asyncio.gather(*(self._client.request("GET", f"{path}/{name}") for name in names))
        return [kind for reply in replies for kind in _listed(orjson.loads(reply.data))]


def _aggregated(document: Object) -> Iterable[Kind]:
    for group in document["items"]:
        name = group["metadata"].get("name", "")
        for version in group["versions"]:
            for row in version.get("resources") or ():
                kind = row["responseKind"]["kind"]
                yield Kind(name, version["version"], kind, row["resource"], row["scope"] == "Namespaced")


def _listed(document: Object) -> Iterable[Kind]:
    group, version = split_api_version(document["groupVersion"])
    for row in document.get("resources") or ():
        if "/" not in row["name"]:
            yield Kind(group, version, row["kind"], row["name"], row["namespaced"])


__all__ = ["Discovery", "Kind", "UnknownKind"]
