"""A whole control plane: the kinds it needs, its controllers, and their start and stop."""

from __future__ import annotations

import asyncio
import importlib.resources
import logging
from collections.abc import Callable
from typing import Protocol

import orjson

from crossply.control import standing_roles
from crossply.control.defined_kinds import Waiting
from crossply.control.definition import DefinitionController
from crossply.control.dependencies import Dependencies
from crossply.control.kind_roles import KindRoles
from crossply.control.kinds import CLUSTER_ROLE, COMPOSITION, CRD, DEFINITION, FUNCTION, NAMESPACE, REVISION
from crossply.control.observing import observed, tell_failure
from crossply.control.offered import OfferController
from crossply.control.plane import Plane
from crossply.control.published_schemas import PublishedSchemas
from crossply.control.recording import Recorder
from crossply.control.revision import RevisionController
from crossply.control.selecting import Compositions
from crossply.errors import CrossplyError
from crossply.kube.cache import Cache
from crossply.kube.caches import Caches
from crossply.kube.client import Client
from crossply.kube.discovery import Discovery
from crossply.kube.failures import Conflict
from crossply.kube.queue import Queue

_log = logging.getLogger("crossply.control")
_CONCURRENCY = 4
MANAGER = "crossply"
HOME = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "crossplane-system"}}
"""Where Compositions of the ecosystem keep connection secrets."""


class Controller(Protocol):
    """Brings one named object in line."""

    name: str

    async def reconcile(self, name: str) -> None:
        """Look at the object, and do what is due."""
        ...


class ControlPlane:
    """Everything that runs for one API server."""

    def __init__(self, client: Client) -> None:
        discovery, caches = Discovery(client), Caches(client)
        recorder = Recorder(client, "crossply")
        schemas = PublishedSchemas(client)
        self._plane = Plane(client, discovery, caches, recorder, Dependencies(caches), schemas)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Install our kinds and begin to follow them."""
        await self._install()
        plane = self._plane
        compositions = plane.caches.acquire(COMPOSITION)
        revisions = plane.caches.acquire(REVISION)
        functions = plane.caches.acquire(FUNCTION)
        functions.subscribe(self._notice_function)
        for cache in (compositions, revisions, functions):
            await cache.synced.wait()
        for data in functions.objects():
            plane.functions.put(orjson.loads(data))
        self._follow(RevisionController(plane), compositions)
        roles = KindRoles(plane, plane.caches.acquire(CLUSTER_ROLE))
        definitions = DefinitionController(plane, Compositions(compositions, revisions), roles)
        roles.wake(DEFINITION.kind, self._follow(definitions, plane.caches.acquire(DEFINITION)))
        self._follow(OfferController(plane), plane.caches.acquire(DEFINITION))

    async def stop(self) -> None:
        """Stop following; nothing is undone."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._plane.recorder.settle()
        await self._plane.caches.close()
        self._plane.functions.close()

    async def _install(self) -> None:
        """Apply the CRDs of the kinds that make a control plane, and the namespace that they count on."""
        data = importlib.resources.files(__package__).joinpath("core_crds.json").read_bytes()
        client = self._plane.client
        await asyncio.gather(
            client.apply(NAMESPACE, HOME, MANAGER),
            standing_roles.install(client, MANAGER),
            *(client.apply(CRD, crd, MANAGER) for crd in orjson.loads(data)),
        )

    def _follow(self, controller: Controller, cache: Cache) -> Callable[[str], None]:
        """Have a controller look at everything in a cache; returns how to have it look at one again."""
        queue: Queue[str] = Queue(f"{controller.name}/{cache.kind.kind.lower()}.{cache.kind.group}")
        cache.subscribe(lambda change, key, old, new: queue.add(key[1]))
        for _, name in list(cache.keys()):
            queue.add(name)

        async def work(name: str) -> None:
            try:
                await controller.reconcile(name)
            except Conflict:
                queue.add_after(name, 0.05)
            except Waiting as problem:
                _log.debug("%s", problem)
                queue.add_after(name, 0.2)
            except CrossplyError as problem:
                tell_failure(problem)
                queue.retry(name)
            else:
                queue.forget(name)

        self._tasks.append(
            asyncio.create_task(queue.run(observed(queue, cache.kind.kind, work), _CONCURRENCY))
        )
        return queue.add

    def _notice_function(
        self, change: str, key: tuple[str, str], old: bytes | None, new: bytes | None
    ) -> None:
        if new is None:
            self._plane.functions.remove(key[1])
        else:
            self._plane.functions.put(orjson.loads(new))
