"""A managed resource in memory: the driver of `reconcile_managed` that has no API server.

Writes change the object as an API server would; methods of the kind are called directly. The clock advances
by a minute at each reconcile, so that nothing waits for eventual consistency.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from crossply.compose.effect_driver import drive_async
from crossply.compose.events import Event
from crossply.provider import reconcile_effects
from crossply.provider.comparison import external_from
from crossply.provider.context import Context
from crossply.provider.crash_points import CrashPoints
from crossply.provider.decode import Lookups, Path, decode
from crossply.provider.external_error import ExternalFailure, external_failure
from crossply.provider.managed_kind import ManagedKind
from crossply.provider.observation import encoded_details
from crossply.provider.reconcile import reconcile_managed
from crossply.provider.reconcile_effects import Reconciled
from crossply.values import Object

NAME = "example"
STEP = timedelta(minutes=1)


class InMemoryResource:
    """One managed resource and its external system, through crashes of the provider."""

    def __init__(self, kind: ManagedKind, open_client: Callable[[Any], Any], points: CrashPoints) -> None:
        """`open_client` gets the instance of the kind's class and returns a client, which may be awaited."""
        self.kind = kind
        self.client: Any = None
        self._open_client = open_client
        self._points = points
        self.live: Object | None = _new_object(kind)
        """None when it is deleted."""
        self.events: list[Event] = []
        self.writes: list[str] = []
        """The effects of the last reconcile that wrote something."""
        self.connection: dict[str, bytes] = {}
        self._secrets: Mapping[Path, str] = {}
        self._instance = kind.cls()
        self._params: Any = None
        self._now = datetime(2024, 1, 1, tzinfo=UTC)

    @property
    def status(self) -> Object:
        """The status of the resource."""
        status: Object = (self.live or {}).get("status") or {}
        return status

    def is_ready(self) -> bool:
        """The resource has the condition Ready."""
        return any(
            condition["type"] == "Ready" and condition["status"] == "True"
            for condition in self.status.get("conditions") or ()
        )

    def set_parameters(self, fields: Object, secrets: Mapping[Path, str]) -> None:
        """Change spec.forProvider and the values of Secrets, as a user does."""
        assert self.live is not None
        self._secrets = secrets
        self._store({**self.live, "spec": {**self.live["spec"], "forProvider": fields}})

    def request_deletion(self) -> None:
        """Delete the resource, as a user does: its finalizer keeps it until nothing is left outside."""
        assert self.live is not None
        metadata = {**self.live["metadata"], "deletionTimestamp": self._now.isoformat()}
        self._store({**self.live, "metadata": metadata})

    async def reconcile(self) -> Reconciled:
        """Reconcile once; raises Crash where the provider crashes."""
        assert self.live is not None
        self._now += STEP
        self.writes = []
        self._points.is_armed = True
        try:
            work = reconcile_managed(self.live, self.kind, lambda: self._now)
            return await drive_async(work, dict.fromkeys(_HANDLERS, self._carry_out))
        finally:
            self._points.is_armed = False
            await self._disconnect()

    async def _carry_out(self, effect: Any) -> Any:
        name = type(effect).__name__
        self._points.passes(f"before {name}")
        answer = getattr(self, _HANDLERS[type(effect)])(effect)
        if inspect.isawaitable(answer):
            answer = await answer
        self._points.passes(f"after {name}")
        return answer

    def _save(self, effect: reconcile_effects.Save) -> Object:
        return self._written(effect, effect.desired)

    def _save_annotations(self, effect: reconcile_effects.SaveAnnotations) -> Object:
        annotations = {**(effect.live["metadata"].get("annotations") or {}), **effect.annotations}
        metadata = {**effect.live["metadata"], "annotations": annotations}
        return self._written(effect, {**effect.live, "metadata": metadata})

    def _write_status(self, effect: reconcile_effects.WriteStatus) -> Object:
        return self._written(effect, {**effect.live, "status": effect.status})

    def _apply_references(self, effect: reconcile_effects.ApplyReferences) -> Object:
        return self._written(effect, {**effect.live, "spec": {**effect.live["spec"], **effect.spec}})

    def _record_event(self, effect: reconcile_effects.RecordEvent) -> None:
        self.events.append(effect.event)

    def _nothing(self, effect: Any) -> None:
        """References are given as values, and there is no ProviderConfig."""

    def _publish(self, effect: reconcile_effects.Publish) -> None:
        self.connection |= effect.details

    async def _connect(self, effect: reconcile_effects.Connect) -> None:
        try:
            client = self._open_client(self._instance)
            self.client = await client if inspect.isawaitable(client) else client
        except Exception as problem:
            raise external_failure(problem) from problem
        fields = effect.live["spec"]["forProvider"]
        lookups = Lookups(secrets=self._secrets, allow_missing=effect.allow_missing)
        self._params = decode(self.kind.parameters, fields, lookups)

    async def _disconnect(self) -> None:
        client, self.client = self.client, None
        if client is not None and self.kind.has("disconnect"):
            result = self._instance.disconnect(client)
            if inspect.isawaitable(result):
                await result

    async def _observe(self, effect: reconcile_effects.Observe) -> reconcile_effects.External | None:
        context = self._context(effect.live)
        observation = await self._call("observe", context)
        if observation is None:
            return None
        fields = effect.live["spec"]["forProvider"]
        return external_from(observation, self.kind, self._params, fields, context.external_name)

    async def _create(self, effect: reconcile_effects.Create) -> reconcile_effects.Created:
        context = self._context(effect.live)
        try:
            details = encoded_details(await self._call("create", context))
        except ExternalFailure as failure:
            return reconcile_effects.Created(context.external_name, {}, failure)
        self.connection |= details
        return reconcile_effects.Created(context.external_name, details)

    async def _update(self, effect: reconcile_effects.Update) -> Mapping[str, bytes]:
        self.writes.append("Update")
        return encoded_details(await self._call("update", self._context(effect.live)))

    async def _delete(self, effect: reconcile_effects.Delete) -> None:
        await self._call("delete", self._context(effect.live))

    def _context(self, live: Object) -> Context:
        return Context(live, self.client, read_connection=self._read_connection)

    async def _read_connection(self) -> Mapping[str, bytes]:
        return self.connection

    async def _call(self, method: str, context: Context) -> Any:
        try:
            result = getattr(self._instance, method)(context, self._params)
            return await result if inspect.isawaitable(result) else result
        except Exception as problem:
            raise external_failure(problem) from problem

    def _written(self, effect: Any, obj: Object) -> Object:
        self.writes.append(type(effect).__name__)
        return self._store(obj)

    def _store(self, obj: Object) -> Object:
        """Keep an object as the API server does: a new spec is a new generation."""
        metadata = dict(obj["metadata"])
        if self.live is not None and obj["spec"] != self.live["spec"]:
            metadata["generation"] = metadata.get("generation", 0) + 1
        stored = {**obj, "metadata": metadata}
        is_gone = metadata.get("deletionTimestamp") and not metadata.get("finalizers")
        self.live = None if is_gone else stored
        return stored


_HANDLERS: dict[type, str] = {
    reconcile_effects.Save: "_save",
    reconcile_effects.SaveAnnotations: "_save_annotations",
    reconcile_effects.WriteStatus: "_write_status",
    reconcile_effects.ApplyReferences: "_apply_references",
    reconcile_effects.RecordEvent: "_record_event",
    reconcile_effects.ReadReferenced: "_nothing",
    reconcile_effects.ListReferenced: "_nothing",
    reconcile_effects.TrackUsage: "_nothing",
    reconcile_effects.Publish: "_publish",
    reconcile_effects.Connect: "_connect",
    reconcile_effects.Observe: "_observe",
    reconcile_effects.Create: "_create",
    reconcile_effects.Update: "_update",
    reconcile_effects.Delete: "_delete",
}


def _new_object(kind: ManagedKind) -> Object:
    namespace = {"namespace": "default"} if kind.kind.namespaced else {}
    return {
        "apiVersion": kind.kind.api_version,
        "kind": kind.kind.kind,
        "metadata": {"name": NAME, **namespace, "uid": "00000000-0000-0000-0000-000000000001"},
        "spec": {
            "managementPolicies": ["*"],
            "forProvider": {},
            "writeConnectionSecretToRef": {"name": f"{NAME}-connection"},
        },
    }
