"""All runtimes of a control plane: what they share, what wakes them, and their start and stop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import orjson

from crossply.compose.metadata import controller_of
from crossply.control.kinds import (
    FUNCTION_REVISION,
    IMAGE_CONFIG,
    PROVIDER_REVISION,
    RUNTIME_CONFIG,
    SECRET,
    SERVICE_ACCOUNT,
)
from crossply.control.plane import Plane
from crossply.control.runtimes.addresses import FunctionAddresses
from crossply.control.runtimes.choice import CONTAINER, DEPLOYMENT, FUNCTION, PROVIDER, PackageRuntimes
from crossply.control.runtimes.container import ContainerRuntime
from crossply.control.runtimes.container_start import ImagePlace, begin_containers
from crossply.control.runtimes.controller import RuntimeController
from crossply.control.runtimes.credentials import Credentials, CredentialSettings
from crossply.control.runtimes.deployment import DeploymentRuntime, Surroundings
from crossply.control.runtimes.provider_binding import keep_binding
from crossply.control.runtimes.runtime import Runtime
from crossply.control.runtimes.runtime_configs import DEFAULT, RuntimeConfigs
from crossply.control.runtimes.writing import RuntimeObjects
from crossply.control.shared_secret import MANAGER
from crossply.control.trying import tried
from crossply.kube.cache import Cache
from crossply.kube.caches import Caches
from crossply.kube.failures import AlreadyExists
from crossply.kube.kind import Kind
from crossply.kube.selection import Selection
from crossply.kube.shared_queue import SharedQueue
from crossply.kube.watch import Key

_CONCURRENCY = 4
_DAY = 86_400.0
_KINDS = {FUNCTION: FUNCTION_REVISION, PROVIDER: PROVIDER_REVISION}


class RuntimeSettings(NamedTuple):
    """What whoever runs a control plane can choose about runtimes."""

    packages: PackageRuntimes = PackageRuntimes()
    credentials: CredentialSettings = CredentialSettings()
    """Where runtimes and their Secrets are, and who the control plane is."""
    by_slices: bool = False
    """Whether functions are found by the EndpointSlices of their Services, and not by DNS."""


class Runtimes:
    """Starts and stops with the control plane."""

    def __init__(
        self,
        plane: Plane,
        settings: RuntimeSettings,
        rollout: bool = True,
        images: ImagePlace = ImagePlace(),  # noqa: B008 - it is immutable
    ) -> None:
        """With `rollout`, several revisions of a Function may be active."""
        self._plane = plane
        self._packages = settings.packages
        own = settings.credentials
        self._around = Surroundings(own.namespace, own.account, rollout)
        self.addresses = FunctionAddresses(own.namespace) if settings.by_slices else None
        """Who knows where functions are; None where that is left to DNS."""
        self._images = images
        self._containers: ContainerRuntime | None = None
        self.credentials = Credentials(plane.keeping, own)
        self._caches = Caches(plane.keeping)
        self._objects: RuntimeObjects | None = None
        self._queues: list[tuple[SharedQueue[str], Cache]] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Have certificates, and look after every revision from now on."""
        await self.credentials.start()
        self.credentials.subscribe(self._wake_all)
        if self.addresses is not None:
            await self.addresses.follow(self._caches)
        for kind, revision_kind in _KINDS.items():
            await self._follow(kind, self._plane.caches.acquire(revision_kind))

    async def stop(self) -> None:
        """Look after them no longer; nothing is undone."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._containers is not None:
            await self._containers.close()
        await self._caches.close()
        await self.credentials.stop()

    def caches(self) -> list[Cache]:
        """The caches of its own: of what only it reads."""
        return self._caches.running()

    async def _follow(self, kind: str, revisions: Cache) -> None:
        runtime = await self._runtime(kind, revisions)
        controller = RuntimeController(self._plane, revisions, runtime)
        name = f"{controller.name}/{revisions.kind.kind.lower()}"
        queue: SharedQueue[str] = SharedQueue(
            name,
            self._plane.shares,
            everything=lambda: [key[1] for key in list(revisions.keys())],
            owned_as=lambda key: f"{name}/{key}",
        )
        revisions.subscribe(lambda change, key, old, new: queue.add(key[1]))
        if self._objects is not None:
            self._wake_by_objects(queue, revisions.kind, self._objects)
        work = tried(queue, revisions.kind.kind, lambda key: _and_again(queue, controller, key))
        self._queues.append((queue, revisions))
        self._tasks.append(asyncio.create_task(queue.run(work, _CONCURRENCY)))

    async def _runtime(self, kind: str, revisions: Cache) -> Runtime | None:
        chosen = self._packages.of(kind)
        if chosen == CONTAINER:
            self._containers = await begin_containers(
                self._plane, revisions, self.credentials, self._images, self._wake_all
            )
            return self._containers
        if chosen != DEPLOYMENT:
            return None
        if self._objects is None:
            await self._begin_deployments()
        assert self._objects is not None
        bind = partial(keep_binding, self._plane) if kind == PROVIDER else None
        return DeploymentRuntime(
            self._objects, self.credentials, self._configs, revisions, self._around, bind
        )

    async def _begin_deployments(self) -> None:
        """What Deployments need: the objects that there are, and what says how they are to be."""
        namespace = self._around.namespace
        self._objects = RuntimeObjects(self._plane.keeping, self._caches, namespace)
        configs = self._plane.caches.acquire(RUNTIME_CONFIG)
        image_configs = self._plane.caches.acquire(IMAGE_CONFIG)
        secrets = self._caches.acquire(SECRET, Selection(namespace, metadata_only=True))
        for cache in (configs, image_configs, *self._objects.caches, secrets):
            await cache.synced.wait()
        for cache in (configs, image_configs):
            cache.subscribe(lambda *told: self._wake_all())
        secrets.subscribe(self._notice_secret)
        self._configs = RuntimeConfigs(configs, image_configs)
        if configs.get("", DEFAULT) is None:
            with suppress(AlreadyExists):
                body = {"apiVersion": RUNTIME_CONFIG.api_version, "kind": RUNTIME_CONFIG.kind}
                await self._plane.keeping.create(
                    RUNTIME_CONFIG, {**body, "metadata": {"name": DEFAULT}}, MANAGER
                )

    def _wake_all(self) -> None:
        for queue, revisions in self._queues:
            for key in list(revisions.keys()):
                queue.add(key[1])

    def _notice_secret(self, change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
        """A certificate that somebody changed or deleted is put right."""
        if key[1].endswith(("-tls-server", "-tls-client")):
            self._wake_all()

    def _wake_by_objects(self, queue: SharedQueue[str], kind: Kind, objects: RuntimeObjects) -> None:
        """What becomes of a revision's objects concerns the revision; of our own account, all of them."""

        def notice(change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
            for data in (old, new):
                owner = None if data is None else controller_of(orjson.loads(data))
                if owner is not None and owner.get("kind") == kind.kind:
                    queue.add(str(owner.get("name")))

        for cache in objects.caches:
            cache.subscribe(notice)
            if cache.kind is SERVICE_ACCOUNT:
                cache.subscribe(self._notice_account)

    def _notice_account(self, change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
        if key[1] == self._around.account:
            self._wake_all()


async def _and_again(queue: SharedQueue[str], controller: RuntimeController, key: str) -> None:
    """Bring a revision in line, and be back when it says so."""
    again = await controller.reconcile(key)
    if again is not None:
        queue.add_after(key, min(again, _DAY))
