"""`trace --watch`: write the tree again whenever something in it changes, until its root is deleted.

Every kind in the tree is watched where it is used. What cannot be watched (a kind that is not served yet, or
one that the user may only read) is polled every few seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress

from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.kube.watch import SYNCED, watch_objects
from crossply.resource_tree.node import Node

REFRESH = 5.0
COALESCE = 0.1
"""Changes come in bursts; after the first, so many seconds are waited for the others."""

Place = tuple[Kind, str]


async def watch(
    client: Client, root: Node, load: Callable[[], Awaitable[Node | None]], paint: Callable[[Node], None]
) -> None:
    """Paint, wait for a change, load and paint again, until there is nothing to load any more."""
    news = News(client)
    tree: Node | None = root
    try:
        while tree is not None:
            paint(tree)
            news.cover(tree)
            await news.wait()
            tree = await load()
    finally:
        await news.close()


class News:
    """Notifies when something in a tree changes."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._changed = asyncio.Event()
        self._watches: dict[Place, asyncio.Task[None]] = {}
        self._names: set[tuple[str, str]] = set()

    def cover(self, *roots: Node) -> None:
        """Watch what is in these trees now, and nothing else."""
        self._names = set()
        places: dict[Place, str] = {}
        for root in roots:
            nodes = [node for node in root.walk() if node.kind is not None]
            self._names |= {(node.reference.namespace, node.reference.name) for node in nodes}
            # From the root's own version on: it was read first, so nothing that came later is missed.
            since = str(root.metadata.get("resourceVersion") or "")
            for node in nodes:
                if node.kind:
                    places.setdefault((node.kind, _namespace(node)), since)
        for place in self._watches.keys() - places.keys():
            self._watches.pop(place).cancel()
        for place in places.keys() - self._watches.keys():
            self._watches[place] = asyncio.create_task(self._listen(place, places[place]))

    def notify(self) -> None:
        """Have `wait` return."""
        self._changed.set()

    async def wait(self) -> None:
        """Return soon after a change, or after a while."""
        with suppress(TimeoutError):
            # wait_for may drop a cancellation, such as Ctrl-C, that comes with a change, until Python 3.12.
            async with asyncio.timeout(REFRESH):
                await self._changed.wait()
            await asyncio.sleep(COALESCE)
        self._changed.clear()

    async def close(self) -> None:
        """End all watches."""
        for task in self._watches.values():
            task.cancel()
        await asyncio.gather(*self._watches.values(), return_exceptions=True)

    async def _listen(self, place: Place, since: str) -> None:
        kind, namespace = place
        async with aclosing(watch_objects(self._client, kind, namespace=namespace, since=since)) as changes:
            async for change in changes:
                if change.type != SYNCED and change.key in self._names:
                    self._changed.set()


def _namespace(node: Node) -> str:
    return node.reference.namespace if node.kind and node.kind.namespaced else ""
