"""Carries out what the reconcile of managed resources decides, for one kind."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from crossply.compose.effect_driver import drive_async
from crossply.compose.events import WARNING, Event
from crossply.compose.object_metadata import name_of
from crossply.errors import CrossplyError
from crossply.kube.controller import Requeue
from crossply.kube.core_kinds import SECRET
from crossply.kube.event_recorder import Recorder
from crossply.kube.failures import Conflict
from crossply.kube.informer import Informer
from crossply.kube.watch import Key
from crossply.kube.write_guard import NotOwner
from crossply.provider import reconcile_effects
from crossply.provider.cached_object_reader import WatchedObjects
from crossply.provider.comparison import external_from
from crossply.provider.connection_secret import ConnectionSecrets
from crossply.provider.context import Context
from crossply.provider.external_calls import ExternalCalls
from crossply.provider.external_error import ExternalFailure, external_failure
from crossply.provider.managed_kind import ManagedKind
from crossply.provider.managed_metrics import ManagedMeter
from crossply.provider.managed_writes import ManagedWrites
from crossply.provider.observation import Observation, encoded_details
from crossply.provider.provider_configs import ProviderConfigs
from crossply.provider.provider_declaration_errors import UnexpectedValue
from crossply.provider.reconcile import reconcile_managed
from crossply.provider.reconcile_effects import Poll, Reconciled, Retry
from crossply.provider.reconcile_triggers import ReadObject, ReconcileTriggers
from crossply.provider.secret_values import Parameters, SecretReader, read_parameters
from crossply.values import Object

REPORT_SECONDS = 30.0
"""A reconcile gets so much longer than its external calls, to report how they ended."""
JITTER = 0.1
"""Of the poll interval, so that resources that were created together are not always observed together."""
_log = logging.getLogger("crossply.provider")


class ManagedReconciler:
    """Reconciles the resources of one kind."""

    def __init__(
        self,
        kind: ManagedKind,
        informer: Informer,
        objects: WatchedObjects,
        writes: ManagedWrites,
        configs: ProviderConfigs,
        connections: ConnectionSecrets,
        recorder: Recorder,
        triggers: ReconcileTriggers,
    ) -> None:
        self.kind = kind
        self.informer = informer
        self.objects = objects
        self.writes = writes
        self.configs = configs
        self.connections = connections
        self.recorder = recorder
        self.calls = ExternalCalls(kind)
        self._triggers = triggers
        self._meter = ManagedMeter(kind.kind)

    async def reconcile(self, key: Key) -> Requeue | None:
        """Reconcile the resource of a namespace and name, if it exists."""
        data = self.informer.get(*key)
        if data is None:
            self._triggers.wait(key, ())
            self._meter.forget(key)
            return None
        resource: Object = orjson.loads(data)
        self._meter.reconcile_started(key, resource)
        driver = _Driver(self, key)
        try:
            reconciled = await driver.run(resource)
        finally:
            await driver.disconnect(resource)
        self._wait(key, driver.read_objects, reconciled)
        self._meter.reconcile_finished(key, self._live(key, resource), reconciled.outcome)
        if reconciled.failure:
            _log.warning("%s %s: %s", self.kind.kind.kind, "/".join(filter(None, key)), reconciled.failure)
        return _requeue(reconciled)

    def _live(self, key: Key, resource: Object) -> Object:
        data = self.informer.get(*key)
        live: Object = resource if data is None else orjson.loads(data)
        return live

    def _wait(self, key: Key, read_objects: set[ReadObject], reconciled: Reconciled) -> None:
        """What failed may succeed when what it read changes; a new password is to be used at once."""
        if reconciled.outcome == "deleted":
            read_objects = set()
        elif reconciled.outcome != "failed":
            read_objects = {entry for entry in read_objects if entry.kind == SECRET}
        self._triggers.wait(key, read_objects)


def _requeue(reconciled: Reconciled) -> Requeue | None:
    requeue = reconciled.requeue
    if isinstance(requeue, Poll):
        return Requeue(requeue.seconds * random.uniform(1 - JITTER, 1 + JITTER))
    if isinstance(requeue, Retry):
        return Requeue(0.0 if requeue.at_once else None)
    return None


class _Driver:
    """One reconcile of one resource."""

    def __init__(self, reconciler: ManagedReconciler, key: Key) -> None:
        self._reconciler = reconciler
        self._kind = reconciler.kind
        self._key = key
        self.read_objects: set[ReadObject] = set()
        """What the reconcile read."""
        self._secrets = SecretReader(reconciler.objects, self.read_objects.add)
        self._deadline = asyncio.get_running_loop().time() + self._kind.settings.timeout
        self._context: Context | None = None
        self._parameters = Parameters(None, ())
        self._hidden: tuple[str, ...] = ()
        """Secrets that messages must not contain."""

    async def run(self, resource: Object) -> Reconciled:
        """Carry out the effects of a reconcile."""
        work = reconcile_managed(resource, self._kind, lambda: datetime.now(UTC))
        try:
            async with asyncio.timeout_at(self._deadline + REPORT_SECONDS):
                return await drive_async(work, self._handlers(), (Conflict, NotOwner))
        except TimeoutError as problem:
            raise ExternalFailure("the reconcile was given up: the API server did not answer") from problem

    async def disconnect(self, resource: Object) -> None:
        """Close the connection to the external system."""
        context, self._context = self._context, None
        if context is None or context.client is None:
            return
        try:
            await self._reconciler.calls.disconnect(self._key, context.client)
        except (CrossplyError, Conflict) as problem:
            event = Event(WARNING, "CannotDisconnectFromProvider", str(problem))
            self._reconciler.recorder.record(resource, event)

    def _handlers(self) -> Mapping[type, Callable[[Any], Any]]:
        reconciler = self._reconciler
        writes, objects = reconciler.writes, reconciler.objects
        return {
            reconcile_effects.Save: lambda effect: writes.save(effect.live, effect.desired),
            reconcile_effects.SaveAnnotations: lambda effect: writes.save_annotations(
                effect.live, effect.annotations
            ),
            reconcile_effects.WriteStatus: lambda effect: writes.write_status(effect.live, effect.status),
            reconcile_effects.ApplyReferences: lambda effect: writes.apply_references(
                effect.live, effect.spec
            ),
            reconcile_effects.RecordEvent: self._record,
            reconcile_effects.ReadReferenced: self._read_referenced,
            reconcile_effects.ListReferenced: lambda effect: self._list_referenced(objects, effect),
            reconcile_effects.TrackUsage: lambda effect: reconciler.configs.track(effect.live),
            reconcile_effects.Publish: self._publish,
            reconcile_effects.Connect: self._connect,
            reconcile_effects.Observe: self._observe,
            reconcile_effects.Create: self._create,
            reconcile_effects.Update: self._update,
            reconcile_effects.Delete: self._delete,
        }

    def _record(self, effect: reconcile_effects.RecordEvent) -> None:
        self._reconciler.recorder.record(effect.live, effect.event, is_repeatable=effect.is_repeatable)

    async def _publish(self, effect: reconcile_effects.Publish) -> None:
        connections = self._reconciler.connections
        await connections.publish(effect.live, effect.details, may_create=effect.may_create)

    async def _read_referenced(self, effect: reconcile_effects.ReadReferenced) -> Object | None:
        self.read_objects.add(ReadObject(effect.kind, effect.namespace, effect.name))
        return await self._reconciler.objects.get(effect.kind, effect.name, effect.namespace)

    async def _list_referenced(
        self, objects: WatchedObjects, effect: reconcile_effects.ListReferenced
    ) -> list[Object]:
        self.read_objects.add(ReadObject(effect.kind, effect.namespace))
        return await objects.select(effect.kind, effect.namespace, effect.labels)

    async def _connect(self, effect: reconcile_effects.Connect) -> None:
        reconciler, live = self._reconciler, effect.live
        config = await reconciler.configs.read(live, self._secrets, self.read_objects)
        self._parameters = await read_parameters(
            self._kind, live, self._secrets, allow_missing=effect.allow_missing
        )
        self._hidden = (*config.secrets, *self._parameters.secrets)
        client = None
        if self._kind.has("connect"):
            client = await self._call("connect", config.value)
        self._context = Context(live, client, _log, lambda: reconciler.connections.read(live))

    async def _observe(self, effect: reconcile_effects.Observe) -> reconcile_effects.External | None:
        context = self._refreshed(effect.live)
        observation = await self._call("observe", context, self._parameters.params)
        if observation is None:
            return None
        if not isinstance(observation, Observation):
            raise UnexpectedValue(
                f"observe returned {type(observation).__name__}, not an Observation or None",
                hint="correct the provider's code",
            )
        fields = (effect.live.get("spec") or {}).get("forProvider") or {}
        params = self._parameters.params
        return external_from(observation, self._kind, params, fields, context.external_name)

    async def _create(self, effect: reconcile_effects.Create) -> reconcile_effects.Created:
        context = self._refreshed(effect.live)
        try:
            details = await self._call("create", context, self._parameters.params)
            return reconcile_effects.Created(context.external_name, encoded_details(details))
        except ExternalFailure as failure:
            return reconcile_effects.Created(context.external_name, {}, failure)
        except Conflict as problem:
            return reconcile_effects.Created(context.external_name, {}, external_failure(problem))

    async def _update(self, effect: reconcile_effects.Update) -> Mapping[str, bytes]:
        context = self._refreshed(effect.live)
        if not self._kind.has("update"):
            names = ", ".join(field.json_name for field in self._kind.parameters)
            raise ExternalFailure(f"{name_of(effect.live)} cannot be changed: {names}")
        return encoded_details(await self._reported("update", context))

    async def _delete(self, effect: reconcile_effects.Delete) -> None:
        await self._reported("delete", self._refreshed(effect.live))

    async def _reported(self, method: str, context: Context) -> Any:
        """Call a method whose conflicts are reported, as it may have done a part of its work."""
        try:
            return await self._call(method, context, self._parameters.params)
        except Conflict as problem:
            raise external_failure(problem) from problem

    async def _call(self, method: str, *arguments: Any) -> Any:
        return await self._reconciler.calls.call(
            self._key, method, *arguments, deadline=self._deadline, secrets=self._hidden
        )

    def _refreshed(self, live: Object) -> Context:
        assert self._context is not None
        self._context.refresh(live)
        return self._context
