"""A store in memory, the built-in kinds, and the controller of definitions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from crossply.apiserver.apiextensions.crd_controller import DEFINITIONS, Definitions
from crossply.apiserver.apiextensions.crd_defaults import default_definition, fresh_status
from crossply.apiserver.apiextensions.crd_status_conditions import marked_for_deletion
from crossply.apiserver.builtin import resources
from crossply.apiserver.served_resources import Registry
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Key, Store
from crossply.apiserver.stored_object_codec import decode, encode
from crossply.values import Object


@dataclass
class Bench:
    """A running controller, and short ways to write and read."""

    context: ServerContext
    definitions: Definitions

    async def create(self, definition: Object) -> None:
        """Store a new definition as the server does."""
        filled = default_definition(definition)
        stamped = {**filled["metadata"], "uid": filled["metadata"]["name"], "generation": 1}
        await self.put(
            definition_key(stamped["name"]),
            {
                **filled,
                "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z", **stamped},
                "status": fresh_status(filled),
            },
        )

    async def put(self, key: Key, obj: Object) -> None:
        """Store an object, new or changed."""
        current = self.context.store.latest(key)

        def encoded(revision: int) -> bytes:
            return encode({**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}})

        await self.context.store.write(key, current.revision if current else None, encoded)

    async def change(self, name: str, change: Callable[[Object], Object]) -> None:
        """Change a stored definition."""
        await self.put(definition_key(name), change(self.load(definition_key(name))))

    async def delete(self, name: str) -> None:
        """Ask for the deletion of a definition."""
        await self.change(name, lambda old: marked_for_deletion(old, "2026-01-02T00:00:00Z"))

    async def settled(self, name: str) -> Object:
        """The stored definition once its status is written."""
        await self.definitions.settle(name)
        return self.load(definition_key(name))

    def load(self, key: Key) -> Object:
        entry = self.context.store.get(key)
        assert entry is not None, f"{key} is not there"
        return decode(entry.data)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something to become so."""
        while not is_so():
            await asyncio.sleep(0.002)


def definition_key(name: str) -> Key:
    return DEFINITIONS, "", name


@asynccontextmanager
async def running(store: Store | None = None) -> AsyncIterator[Bench]:
    """A bench; with a store that is there already, as after a restart."""
    store = store or await Store.open(None)
    registry = Registry()
    for resource in resources():
        registry.put(resource)
    bench = Bench(ServerContext(store, registry), Definitions())
    bench.definitions.start(bench.context)
    yield bench
    await bench.definitions.stop()
    await store.close()
