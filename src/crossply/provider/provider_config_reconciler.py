"""Keeps ProviderConfigs while managed resources use them, and counts these.

Usages are counted, as other tools do. A namespace that is deleted takes its usages at once, however, when its
managed resources still wait for their external resources to go. So these are checked, too, before a
ProviderConfig goes.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from crossply.compose.conditions import with_conditions
from crossply.compose.events import WARNING, Event, StatusCondition
from crossply.compose.object_metadata import (
    controller_of,
    finalizers_of,
    is_being_deleted,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from crossply.kube.client import Client
from crossply.kube.controller import Controller
from crossply.kube.event_recorder import Recorder
from crossply.kube.finalizers import add_finalizer, remove_finalizer
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.watch import Key
from crossply.provider.connection_secret import MANAGER
from crossply.provider.managed_kind import ProviderConfigKinds
from crossply.provider.provider_configs import KIND_LABEL, NAME_LABEL
from crossply.values import Object
from crossply.values.timestamps import current_timestamp

FINALIZER = "in-use.crossplane.io"
IN_USE = "Blocking deletion while usages still exist"
TERMINATING = StatusCondition("Terminating", "True", "InUse", IN_USE)
CONFIG = "provider/config"
"""An index of usages: the namespace and name of what they use, or the name alone."""
GATHER_SECONDS = 0.5
"""Usages that come and go together are counted together."""


class ProviderConfigReconciler:
    """Reconciles the ProviderConfigs of one kind."""

    def __init__(
        self,
        client: Client,
        configs: Informer,
        usages: Iterable[Informer],
        resources: Iterable[Informer],
        recorder: Recorder,
    ) -> None:
        self._client = client
        self._configs = configs
        self._usages = tuple(usages)
        self._resources = tuple(resources)
        self._recorder = recorder
        self._index_name = f"{CONFIG}/{configs.kind.kind}"
        for informer in self._usages:
            informer.add_index(self._index_name, self._usage_index)
        for informer in self._resources:
            informer.add_index(self._index_name, self._resource_index)

    def watch_users(self, controller: Controller) -> None:
        """Count again when a usage comes or goes, and when a managed resource is gone."""
        for informer in self._usages:
            informer.subscribe(lambda _, __, old, new: self._usage_changed(controller, old, new))
        for informer in self._resources:
            informer.subscribe(lambda _, __, old, new: self._resource_changed(controller, old, new))

    async def reconcile(self, key: Key) -> None:
        """Count the users of a ProviderConfig, and let it go when there are none."""
        data = self._configs.get(*key)
        if data is None:
            return
        config: Object = orjson.loads(data)
        users = await self._count_users(key)
        if not is_being_deleted(config):
            await self._keep(config, users)
        elif users or self._is_referred_to(key):
            self._recorder.record(config, Event(WARNING, "UsageAccounting", IN_USE))
            await self._write_status(with_conditions(config, (TERMINATING,), current_timestamp()), users)
        else:
            await remove_finalizer(self._client, self._configs.kind, config, FINALIZER, MANAGER)

    async def _keep(self, config: Object, users: int) -> None:
        if FINALIZER not in finalizers_of(config):
            config = await add_finalizer(self._client, self._configs.kind, config, FINALIZER, MANAGER)
            self._configs.record_write(config)
        await self._write_status(config, users)

    async def _write_status(self, config: Object, users: int) -> None:
        status = {**(config.get("status") or {}), "users": users}
        if not users:
            del status["users"]
        data = self._configs.get(namespace_of(config), name_of(config))
        live = {} if data is None else orjson.loads(data).get("status") or {}
        if status != live:
            body = {**config, "status": status}
            self._configs.record_write(await self._client.update_status(self._configs.kind, body, MANAGER))

    async def _count_users(self, key: Key) -> int:
        users = 0
        for informer in self._usages:
            for data in informer.by(self._index_name, _value(*key)):
                usage: Object = orjson.loads(data)
                if controller_of(usage) is not None:
                    users += 1
                    continue
                # Its resource is gone, or makes another one when it is reconciled.
                await self._client.delete(
                    informer.kind, name_of(usage), namespace_of(usage), uid=uid_of(usage)
                )
        return users

    def _is_referred_to(self, key: Key) -> bool:
        return any(informer.keys_by(self._index_name, _value(*key)) for informer in self._resources)

    def _usage_index(self, usage: Object) -> Iterable[str]:
        name = labels_of(usage).get(NAME_LABEL, "")
        if labels_of(usage).get(KIND_LABEL) == self._configs.kind.kind:
            yield _value(namespace_of(usage) if self._configs.kind.namespaced else "", name)

    def _resource_index(self, resource: Object) -> Iterable[str]:
        reference = (resource.get("spec") or {}).get("providerConfigRef") or {}
        if reference.get("kind", self._configs.kind.kind) == self._configs.kind.kind:
            namespace = namespace_of(resource) if self._configs.kind.namespaced else ""
            yield _value(namespace, str(reference.get("name", "")))

    def _usage_changed(self, controller: Controller, old: bytes | None, new: bytes | None) -> None:
        for data in (old, new):
            self._enqueue(controller, () if data is None else self._usage_index(orjson.loads(data)))

    def _resource_changed(self, controller: Controller, old: bytes | None, new: bytes | None) -> None:
        if new is None and old is not None:
            self._enqueue(controller, self._resource_index(orjson.loads(old)))

    def _enqueue(self, controller: Controller, values: Iterable[str]) -> None:
        for value in values:
            namespace, _, name = value.rpartition("/")
            controller.enqueue_after((namespace, name), GATHER_SECONDS)


def _value(namespace: str, name: str) -> str:
    return f"{namespace}/{name}"


def config_usages(kind: Kind, kinds: ProviderConfigKinds) -> tuple[Kind, ...]:
    """The kinds of usages that can refer to a kind of ProviderConfig."""
    return (kinds.namespaced_usage,) if kind.namespaced else kinds.usages
