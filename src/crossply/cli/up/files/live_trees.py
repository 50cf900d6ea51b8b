"""The trees of what was applied, loaded again whenever something in them changes."""

from __future__ import annotations

import asyncio

from crossply.cli.trace.watch import News
from crossply.kube.client import Client
from crossply.resource_tree.composite_tree import Trees
from crossply.resource_tree.kind_origin import Origins
from crossply.resource_tree.node import Node, Reference
from crossply.resource_tree.object_reader import DEFAULT_CONCURRENCY, Reader
from crossply.resource_tree.served_kinds import Kinds
from crossply.resource_tree.trace_target import TraceError


class LiveTrees:
    """Follows some roots, which may be exchanged at any time."""

    def __init__(self, client: Client) -> None:
        reader = Reader(client, Kinds(client), DEFAULT_CONCURRENCY)
        self._reader = reader
        self._trees = Trees(reader, secrets=False)
        self._origins = Origins(reader)
        self._news = News(client)
        self.references: tuple[Reference, ...] = ()

    async def load(self) -> list[Node]:
        """The trees as they are now; from now on their changes are noticed."""
        roots = [await self._reader.get(reference) for reference in self.references]
        for root in roots:
            if root.problem is None:
                await self._grow(root)
        self._news.cover(*roots)
        return roots

    async def wait(self) -> None:
        """Return soon after a change, or after a while."""
        await self._news.wait()

    def wake(self) -> None:
        """Have `wait` return: there are other roots, or something else to show."""
        self._news.wake()

    async def close(self) -> None:
        await self._news.close()

    async def _grow(self, root: Node) -> None:
        try:
            await self._trees.grow(root)
            await self._origins.add(root)
        except TraceError:
            await asyncio.sleep(0)  # the server is being restarted; the next look shows all
