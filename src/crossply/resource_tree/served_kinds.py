"""The kinds that a server serves, found by plural, singular, short name or kind.

Where several kinds have the name, the server's order decides: the preferred version of the first group that
has it.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import NamedTuple

import orjson

from crossply.kube.client import Client
from crossply.kube.discovery import AGGREGATED
from crossply.kube.kind import Kind
from crossply.resource_tree.trace_target import Spelling, spellings
from crossply.values import Object
from crossply.values.api_version import split_api_version

SHORTEST_PAUSE = 2.0
"""A kind that is not served causes at most one more question in so many seconds."""


class Served(NamedTuple):
    """A kind with all its names."""

    kind: Kind
    singular: str
    short_names: tuple[str, ...]
    rank: int
    """0 in its group's preferred version, 1 in the next."""


class Kinds:
    """The kinds that one server serves, fetched on demand."""

    def __init__(self, client: Client, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._served: list[Served] = []
        self._by_kind: dict[tuple[str, str], Kind] = {}
        self._fetched_at = float("-inf")
        self._fetch_lock = asyncio.Lock()

    async def called(self, api_version: str, kind: str) -> Kind | None:
        """The kind that objects call themselves by."""
        key = (api_version, kind)
        if key not in self._by_kind:
            async with self._fetch_lock:
                if key not in self._by_kind and self._clock() - self._fetched_at >= SHORTEST_PAUSE:
                    await self._fetch()
        return self._by_kind.get(key)

    async def named(self, text: str) -> Kind | None:
        """The kind that a user means by `TYPE[.VERSION][.GROUP]`."""
        async with self._fetch_lock:
            await self._fetch()
        return find(self._served, text)

    def question(self, text: str) -> str:
        """`did you mean website?` for a `TYPE` that was not found; empty if no kind's name is near."""
        names = {name for item in self._served for name in (item.singular, item.kind.plural)}
        word, dot, group = text.partition(".")
        near = get_close_matches(word.lower(), sorted(names), 1, 0.75)
        return f"did you mean {near[0]}{dot}{group}?" if near and near[0] != word.lower() else ""

    async def _fetch(self) -> None:
        groups = await asyncio.gather(self._at("/api"), self._at("/apis"))
        self._fetched_at = self._clock()
        self._served = [served for part in groups for served in part]
        self._by_kind = {
            (item.kind.api_version, item.kind.kind): item.kind for item in reversed(self._served)
        }

    async def _at(self, path: str) -> list[Served]:
        reply = await self._client.request("GET", path, accept=f"{AGGREGATED},application/json")
        document = orjson.loads(reply.data)
        if document.get("kind") == "APIGroupDiscoveryList":
            return list(_aggregated(document))
        return await self._version_by_version(path, document)

    async def _version_by_version(self, path: str, document: Object) -> list[Served]:
        """The kinds of a server that answers in the old form: one document a version."""
        groups = [list(document.get("versions") or ())]
        for group in document.get("groups") or ():
            names = [version["groupVersion"] for version in group["versions"]]
            preferred = (group.get("preferredVersion") or {}).get("groupVersion")
            groups.append(sorted(names, key=lambda name: name != preferred))
        ranked = [(rank, name) for names in groups for rank, name in enumerate(names)]
        requests = (self._client.request("GET", f"{path}/{name}") for _, name in ranked)
        replies = await asyncio.gather(*requests)
        documents = zip(ranked, replies, strict=True)
        return list(
            itertools.chain(*(_listed(orjson.loads(reply.data), rank) for (rank, _), reply in documents))
        )


def find(served: list[Served], text: str) -> Kind | None:
    """The kind by a resource name, or else by its own name."""
    best_first = sorted(served, key=lambda item: item.rank)
    readings = spellings(text)
    for spelling in readings:
        for matches in (_by_resource, _by_short_name, _by_resource_in_a_group_that_begins_so):
            kind = _first(best_first, spelling, matches)
            if kind:
                return kind
    for spelling in readings:
        kind = _first(best_first, spelling, _by_kind)
        if kind:
            return kind
    return None


def _first(
    served: list[Served], spelling: Spelling, matches: Callable[[Served, Spelling], bool]
) -> Kind | None:
    return next((item.kind for item in served if matches(item, spelling)), None)


def _by_resource(item: Served, spelling: Spelling) -> bool:
    if spelling.group not in ("", item.kind.group) or spelling.version not in ("", item.kind.version):
        return False
    return spelling.word.lower() in (item.kind.plural, item.singular)


def _by_short_name(item: Served, spelling: Spelling) -> bool:
    if spelling.group not in ("", item.kind.group) or spelling.version not in ("", item.kind.version):
        return False
    return spelling.word in item.short_names


def _by_resource_in_a_group_that_begins_so(item: Served, spelling: Spelling) -> bool:
    # `storageclass.storage` means that of storage.k8s.io; with a version the group must be whole.
    if spelling.version or not spelling.group or not item.kind.group.startswith(spelling.group):
        return False
    return spelling.word.lower() in (item.kind.plural, item.singular) or spelling.word in item.short_names


def _by_kind(item: Served, spelling: Spelling) -> bool:
    if spelling.group != item.kind.group or spelling.version not in ("", item.kind.version):
        return False
    return spelling.word in (item.kind.kind, item.kind.kind.lower())


def _aggregated(document: Object) -> Iterator[Served]:
    for group in document["items"]:
        name = group["metadata"].get("name", "")
        for rank, version in enumerate(group["versions"]):
            for row in version.get("resources") or ():
                # An entry without a kind of its own only carries subresources.
                kind = (row.get("responseKind") or {}).get("kind")
                if kind:
                    kind_ = Kind(
                        name, version["version"], kind, row["resource"], row["scope"] == "Namespaced"
                    )
                    singular = row.get("singularResource") or kind.lower()
                    yield Served(kind_, singular, tuple(row.get("shortNames") or ()), rank)


def _listed(document: Object, rank: int) -> Iterator[Served]:
    group, version = split_api_version(document["groupVersion"])
    for row in document.get("resources") or ():
        if "/" not in row["name"]:
            kind_ = Kind(group, version, row["kind"], row["name"], row["namespaced"])
            singular = row.get("singularName") or row["kind"].lower()
            yield Served(kind_, singular, tuple(row.get("shortNames") or ()), rank)
