"""All runtimes of a control plane: what they share, what wakes them, and their start and stop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from crossply.control.controller_context import Plane
from crossply.control.kinds import FUNCTION_REVISION, IMAGE_CONFIG, PROVIDER_REVISION, RUNTIME_CONFIG
from crossply.control.managed_definitions.definition_informer import acquire_definitions
from crossply.control.managed_definitions.safe_start import activated_revision
from crossply.control.replica_shared_secret import MANAGER
from crossply.control.runtimes.container_runtime import ContainerRuntime
from crossply.control.runtimes.container_runtime_assembly import (
    ImageSettings,
    revision_images,
    start_container_runtime,
    watch_container_settings,
)
from crossply.control.runtimes.deployment_runtime import DeploymentRuntime, RuntimeContext
from crossply.control.runtimes.function_pod_addresses import FunctionAddresses
from crossply.control.runtimes.mutual_tls_certificates import Credentials, CredentialSettings
from crossply.control.runtimes.package_runtime_choice import (
    CONTAINER,
    DEPLOYMENT,
    FUNCTION,
    PROVIDER,
    PackageRuntimes,
)
from crossply.control.runtimes.provider_role_binding import keep_binding
from crossply.control.runtimes.provider_runtime import ProviderRuntime, ProviderSettings
from crossply.control.runtimes.pulled_images import RevisionImages
from crossply.control.runtimes.runtime import Runtime
from crossply.control.runtimes.runtime_config_selection import DEFAULT, RuntimeConfigs
from crossply.control.runtimes.runtime_object_applier import ON_THIS_MACHINE, RuntimeObjects
from crossply.control.runtimes.runtime_reconciler import RuntimeReconciler
from crossply.kube.controller import Controller, Spec, Watch, by_name, owned_by
from crossply.kube.core_kinds import SECRET, SERVICE_ACCOUNT
from crossply.kube.failures import AlreadyExists
from crossply.kube.informer import Informer
from crossply.kube.list_options import Selection
from crossply.kube.shared_informers import SharedInformers
from crossply.kube.watch import Key

_KINDS = {FUNCTION: FUNCTION_REVISION, PROVIDER: PROVIDER_REVISION}


class RuntimeSettings(NamedTuple):
    """The options of a control plane about runtimes."""

    packages: PackageRuntimes = PackageRuntimes()
    credentials: CredentialSettings = CredentialSettings()
    """Where runtimes and their Secrets are, and who the control plane is."""
    by_slices: bool = False
    """Whether functions are found by the EndpointSlices of their Services, and not by DNS."""
    providers: ProviderSettings | None = None
    """Where Providers run on this machine; None where they do only if `packages` says so."""


class Runtimes:
    """Starts and stops with the control plane."""

    def __init__(
        self,
        plane: Plane,
        settings: RuntimeSettings,
        rollout: bool = True,
        images: ImageSettings = ImageSettings(),  # noqa: B008 - it is immutable
    ) -> None:
        """With `rollout`, several revisions of a Function may be active."""
        self._plane = plane
        self._packages = settings.packages
        own = settings.credentials
        self._around = RuntimeContext(own.namespace, own.account, rollout)
        self.addresses = FunctionAddresses(own.namespace) if settings.by_slices else None
        """Who knows where functions are; None where that is left to DNS."""
        self._images = images
        self._containers: ContainerRuntime | None = None
        self._provider_settings = settings.providers
        self._providers: ProviderRuntime | None = None
        self.credentials = Credentials(plane.as_installer, own)
        self.caches = SharedInformers(plane.as_installer)
        """Informers with the rights of whoever installs packages; they close when this stops."""
        self._objects: RuntimeObjects | None = None
        self._controllers: list[Controller] = []

    async def start(self) -> None:
        """Have certificates, and look after every revision from now on."""
        await self.credentials.start()
        self.credentials.subscribe(self._enqueue_all)
        if self.addresses is not None:
            await self.addresses.watch(self.caches)
        for kind, revision_kind in _KINDS.items():
            await self._watch_revisions(kind, self._plane.informers.acquire(revision_kind))

    async def stop(self) -> None:
        """Look after them no longer; nothing is undone."""
        await asyncio.gather(*(controller.stop() for controller in self._controllers))
        if self._containers is not None:
            await self._containers.close()
        if self._providers is not None:
            await self._providers.close()
        await self.caches.close()
        await self.credentials.stop()

    def informers(self) -> list[Informer]:
        """The caches of its own: of what only it reads."""
        return self.caches.running()

    async def _watch_revisions(self, kind: str, revisions: Informer) -> None:
        runtime = await self._runtime(kind, revisions)
        if kind == PROVIDER and self._providers is None and self._provider_settings is not None:
            await self._start_providers(revisions, None)
        local = self._providers if kind == PROVIDER else None
        definitions = acquire_definitions(self._plane.informers) if kind == PROVIDER else None
        reconciler = RuntimeReconciler(self._plane, revisions, runtime, local, definitions)
        name = f"package-runtime/{revisions.kind.kind.lower()}"
        objects = self._objects.informers if self._objects is not None else ()
        spec = Spec(
            name=name,
            reconciles=revisions,
            reconcile=by_name(reconciler.reconcile),
            watches=[
                *(Watch(informer, owned_by(revisions.kind)) for informer in objects),
                *([Watch(definitions, activated_revision)] if definitions is not None else ()),
            ],
            needs=[definitions] if definitions is not None else (),
            shard_key=lambda key: f"{name}/{key[1]}",
        )
        controller = Controller(self._plane, spec)
        self._controllers.append(controller)
        controller.start()

    async def _runtime(self, kind: str, revisions: Informer) -> Runtime | None:
        chosen = self._packages.of(kind)
        if chosen == CONTAINER and kind == PROVIDER:
            return await self._start_providers(revisions, revision_images(self._plane, self._images))
        if chosen == CONTAINER:
            self._containers = await start_container_runtime(
                self._plane,
                revisions,
                self.credentials,
                self._images,
                self._enqueue_all,
                self._provider_settings.logs if self._provider_settings is not None else "",
            )
            return self._containers
        if chosen != DEPLOYMENT:
            return None
        if self._objects is None:
            await self._start_deployments()
        assert self._objects is not None
        bind = partial(keep_binding, self._plane) if kind == PROVIDER else None
        return DeploymentRuntime(
            self._objects, self.credentials, self._configs, revisions, self._around, bind
        )

    async def _start_providers(self, revisions: Informer, images: RevisionImages | None) -> ProviderRuntime:
        """The runtime of Providers on this machine; without images, only of those that are programs of it."""
        settings = self._provider_settings or ProviderSettings()
        client, namespace = self._plane.as_installer, self._around.namespace
        objects = RuntimeObjects(client, self.caches, namespace, ON_THIS_MACHINE)
        for informer in objects.informers:
            await informer.synced.wait()
        configs = await watch_container_settings(self._plane, self._enqueue_all)
        self._providers = ProviderRuntime(
            self._plane,
            revisions,
            objects,
            self.credentials,
            configs,
            settings._replace(namespace=namespace),
            images,
            self._enqueue,
        )
        return self._providers

    async def _start_deployments(self) -> None:
        """What Deployments need: the objects that there are, and what says how they are to be."""
        namespace = self._around.namespace
        self._objects = RuntimeObjects(self._plane.as_installer, self.caches, namespace)
        configs = self._plane.informers.acquire(RUNTIME_CONFIG)
        image_configs = self._plane.informers.acquire(IMAGE_CONFIG)
        secrets = self.caches.acquire(SECRET, Selection(namespace, metadata_only=True))
        for cache in (configs, image_configs, *self._objects.informers, secrets):
            await cache.synced.wait()
        for cache in (configs, image_configs):
            cache.subscribe(lambda *event: self._enqueue_all())
        secrets.subscribe(self._handle_secret)
        for informer in self._objects.informers:
            if informer.kind is SERVICE_ACCOUNT:
                informer.subscribe(self._handle_account)
        self._configs = RuntimeConfigs(configs, image_configs)
        if configs.get("", DEFAULT) is None:
            with suppress(AlreadyExists):
                body = {"apiVersion": RUNTIME_CONFIG.api_version, "kind": RUNTIME_CONFIG.kind}
                await self._plane.as_installer.create(
                    RUNTIME_CONFIG, {**body, "metadata": {"name": DEFAULT}}, MANAGER
                )

    def _enqueue(self, name: str) -> None:
        for controller in self._controllers:
            controller.enqueue_name(name)

    def _enqueue_all(self) -> None:
        for controller in self._controllers:
            controller.enqueue_all()

    def _handle_secret(self, change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
        """A certificate that was changed or deleted is restored."""
        if key[1].endswith(("-tls-server", "-tls-client")):
            self._enqueue_all()

    def _handle_account(self, change: str, key: Key, old: bytes | None, new: bytes | None) -> None:
        if key[1] == self._around.account:
            self._enqueue_all()
