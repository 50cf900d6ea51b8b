"""Runs a provider: a controller for each of its kinds, and for its configurations."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from crossply.kube.client import Client
from crossply.kube.controller import Controller, Spec, controller_name
from crossply.kube.event_recorder import Recorder
from crossply.kube.failures import NotServed
from crossply.kube.informer import Informer
from crossply.kube.sharding import SingleReplica
from crossply.kube.shared_informers import SharedInformers
from crossply.provider.cached_object_reader import WatchedObjects
from crossply.provider.connection_secret import ConnectionSecrets
from crossply.provider.managed_kind import ManagedKind, ProviderConfigKinds
from crossply.provider.managed_reconciler import ManagedReconciler
from crossply.provider.managed_writes import ManagedWrites
from crossply.provider.provider_config_reconciler import ProviderConfigReconciler, config_usages
from crossply.provider.provider_configs import ProviderConfigs
from crossply.provider.reconcile_triggers import ReconcileTriggers, desired_state_changed
from crossply.values.backoff import RetryPauses

BACKOFF = RetryPauses(first=1.0, longest=60.0)
_EVENTS_SECONDS = 5.0
"""How long a stop waits for events that are not written yet."""


@dataclass(frozen=True)
class _Replica:
    """A provider is one process, which reconciles everything."""

    retry: RetryPauses = BACKOFF
    shards: SingleReplica = field(default_factory=SingleReplica)


class ProviderServer:
    """The controllers of a provider, from `start` to `stop`."""

    def __init__(self, client: Client, kinds: Iterable[ManagedKind], retry: RetryPauses = BACKOFF) -> None:
        self._client = client
        self._kinds = tuple(kinds)
        self._replica = _Replica(retry)
        self._informers = SharedInformers(client)
        self._objects = WatchedObjects(client, self._informers)
        self._connections = ConnectionSecrets(client, self._objects)
        self._controllers: list[Controller] = []
        self._reconcilers: list[ManagedReconciler] = []
        self._recorders: list[Recorder] = []
        self._membership: asyncio.Task[None] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether everything that exists of its kinds is known."""
        return bool(self._reconcilers) and not self.start_progress()

    def start_progress(self) -> str:
        """Which kinds the provider waits for, and why; empty where it waits for none."""
        informers = (reconciler.informer for reconciler in self._reconcilers)
        return "; ".join(_progress(informer) for informer in informers if _is_awaited(informer))

    def start(self) -> None:
        """Start all controllers. A kind is reconciled as soon as the API server serves it."""
        for kind in self._kinds:
            self._start_managed(kind)
        for config in {id(kind.config): kind.config for kind in self._kinds if kind.config}.values():
            self._start_configs(config)
        self._membership = asyncio.create_task(self._replica.shards.run())

    async def stop(self) -> None:
        """Finish what is under way, and stop; nothing is undone."""
        if self._membership is not None:
            self._membership.cancel()
            await asyncio.gather(self._membership, return_exceptions=True)
        await asyncio.gather(*(controller.stop() for controller in self._controllers))
        for reconciler in self._reconcilers:
            reconciler.calls.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_EVENTS_SECONDS):
                await asyncio.gather(*(recorder.settle() for recorder in self._recorders))
        await self._informers.close()

    def _start_managed(self, kind: ManagedKind) -> None:
        informer = self._objects.informer(kind.kind)
        name = controller_name("managed", kind.kind)
        triggers = ReconcileTriggers(lambda key: controller.enqueue(key))
        reconciler = ManagedReconciler(
            kind,
            informer,
            self._objects,
            ManagedWrites(self._client, informer),
            ProviderConfigs(self._client, self._objects, kind),
            self._connections,
            self._recorder(name),
            triggers,
        )
        controller = Controller(
            self._replica,
            Spec(
                name=name,
                reconciles=informer,
                reconcile=reconciler.reconcile,
                enqueues=lambda key, old, new: (key,) if desired_state_changed(old, new) else (),
                concurrency=kind.settings.concurrency,
            ),
        )
        self._objects.subscribe(triggers.changed)
        self._reconcilers.append(reconciler)
        self._begin(controller)

    def _start_configs(self, kinds: ProviderConfigKinds) -> None:
        for kind in kinds.configs:
            name = controller_name("providerconfig", kind)
            usages = config_usages(kind, kinds)
            informers = [self._objects.informer(usage) for usage in usages]
            configs = self._objects.informer(kind)
            resources = [self._objects.informer(user.kind) for user in self._kinds if user.config is kinds]
            reconciler = ProviderConfigReconciler(
                self._client, configs, informers, resources, self._recorder(name)
            )
            controller = Controller(
                self._replica,
                Spec(
                    name=name,
                    reconciles=configs,
                    reconcile=reconciler.reconcile,
                    needs=informers,
                ),
            )
            reconciler.watch_users(controller)
            self._begin(controller)

    def _recorder(self, component: str) -> Recorder:
        recorder = Recorder(self._client, component)
        self._recorders.append(recorder)
        return recorder

    def _begin(self, controller: Controller) -> None:
        self._controllers.append(controller)
        controller.start()


def _is_awaited(informer: Informer) -> bool:
    # A kind may not be served until a policy activates it.
    return not informer.synced.is_set() and not isinstance(informer.trouble, NotServed)


def _progress(informer: Informer) -> str:
    return f"{informer.kind.resource}: {informer.trouble or 'waiting for the API server'}"
