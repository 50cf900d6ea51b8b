"""Starting and stopping the controllers with the server."""

from __future__ import annotations

import asyncio

from crossply.apiserver.controllers.garbage import GarbageCollector
from crossply.apiserver.controllers.namespace_contents import NamespaceContents, ensure_namespaces
from crossply.apiserver.controllers.namespace_deletion import finalize
from crossply.apiserver.controllers.namespaces import NamespaceController
from crossply.apiserver.world import World


class Controllers:
    """The controllers of one world."""

    def __init__(self, world: World, *, root_ca: str = "") -> None:
        self._world = world
        self.garbage = GarbageCollector(world)
        self.namespaces = NamespaceController(world)
        self.contents = NamespaceContents(world, root_ca)

    async def start(self) -> None:
        """Make what must exist, and begin to follow the store."""
        self._world.handlers["namespaces", "finalize"] = finalize
        await ensure_namespaces(self._world)
        self.garbage.start()
        self.namespaces.start()
        self.contents.start()

    async def stop(self) -> None:
        """Follow the store no longer; what is under way is dropped and taken up again at the next start."""
        await asyncio.gather(self.garbage.stop(), self.namespaces.stop(), self.contents.stop())

    async def settled(self) -> None:
        """Wait until nothing is due."""
        queues = (self.garbage.queue, self.namespaces.queue, self.contents.queue)
        while not all(queue.idle for queue in queues):
            await asyncio.sleep(0.001)
