"""Plays one scenario of the comparison: what a user does, and what the provider did in each phase of it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from crossply.kube.client import Client
from crossply.kube.core_kinds import SECRET
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.providers.effect_log import EffectLog
from tests.support.providers.object_changes import flat, plain
from tests.support.providers.scripted_system import Part
from tests.support.providers.write_proxy import Scenario

GROUP = "small.example.org"
API_VERSION = f"{GROUP}/v1alpha1"
THING = Kind(GROUP, "v1alpha1", "Thing", "things", True)
TICKET = Kind(GROUP, "v1alpha1", "Ticket", "tickets", True)
RELIC = Kind(GROUP, "v1alpha1", "Relic", "relics", False)
CONFIG = Kind(GROUP, "v1alpha1", "ProviderConfig", "providerconfigs", True)
CLUSTER_CONFIG = Kind(GROUP, "v1alpha1", "ClusterProviderConfig", "clusterproviderconfigs", False)
USAGE = Kind(GROUP, "v1alpha1", "ProviderConfigUsage", "providerconfigusages", True)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)

Phase = Object
"""What happened between two actions of the user: effects and events by resource, and objects at the end."""


class Pace(Protocol):
    """When a phase has ended: when nothing happens any more, or when what was recorded has happened."""

    async def settle(self, play: ScenarioPlay) -> None: ...


class ScenarioPlay:
    """What a scenario is written with."""

    def __init__(
        self, client: Client, namespace: str, endpoint: str, part: Part, writes: Scenario, pace: Pace
    ) -> None:
        self.client = client
        self.namespace = namespace
        self.system = part
        self.writes = writes
        self.phases: list[Phase] = []
        self._endpoint = endpoint
        self._pace = pace

    @property
    def log(self) -> EffectLog:
        return self.system.log

    # What a user does.

    async def config(self, name: str = "default", **credentials: Any) -> None:
        """Create a provider config for this scenario's part of the external system."""
        await self.create(self.config_manifest(CONFIG, name, **credentials))

    def config_manifest(self, kind: Kind, name: str, **credentials: Any) -> Object:
        spec = {"endpoint": self._endpoint, "credentials": {"source": "None", **credentials}}
        return {"kind": kind.kind, "metadata": {"name": name}, "spec": spec}

    async def thing(
        self, name: str, kind: str = "Thing", *, spec: Object | None = None, **more: Any
    ) -> Object:
        """Create a managed resource; `more` is its metadata and its parameters."""
        keys = ("annotations", "labels", "finalizers")
        metadata: Object = {key: more.pop(key) for key in keys if key in more}
        if "controller" in more:
            metadata["ownerReferences"] = [more.pop("controller")]
        body = {
            "kind": kind,
            "metadata": {"name": name, **metadata},
            "spec": {
                "providerConfigRef": {"kind": "ProviderConfig", "name": "default"},
                "forProvider": more,
                **(spec or {}),
            },
        }
        return await self.create(body)

    async def create(self, body: Object) -> Object:
        kind = _KINDS[body["kind"]]
        metadata = {**body["metadata"], **({"namespace": self.namespace} if kind.namespaced else {})}
        return await self.client.create(kind, {"apiVersion": kind.api_version, **body, "metadata": metadata})

    async def edit(self, name: str, patch: Object, kind: Kind = THING) -> None:
        """Merge a patch into a managed resource."""
        await self.client.patch_merge(kind, name, patch, self.namespace if kind.namespaced else "")

    async def annotate(self, name: str, kind: Kind = THING, **annotations: str | None) -> None:
        """Set annotations of crossplane.io, with "_" for "-"; None removes one."""
        changed = {f"crossplane.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
        await self.edit(name, {"metadata": {"annotations": changed}}, kind)

    async def request_reconcile(self, name: str, token: str, kind: Kind = THING) -> None:
        await self.annotate(name, kind, reconcile_requested_at=token)

    async def delete(self, name: str, kind: Kind = THING) -> None:
        await self.client.delete(kind, name, self.namespace if kind.namespaced else "")

    # What a user waits for.

    async def until(self, name: str, kind: Kind = THING, **conditions: str) -> None:
        """Wait for conditions by their reasons: `until("a", Ready="Available")`."""

        async def are_there() -> bool:
            live = await self._get(kind, name)
            reasons = {
                entry["type"]: entry["reason"]
                for entry in (live or {}).get("status", {}).get("conditions", ())
            }
            return all(reasons.get(condition) == reason for condition, reason in conditions.items())

        await self._wait(are_there, f"{name}: {conditions}")

    async def until_gone(self, name: str, kind: Kind = THING) -> None:
        async def is_gone() -> bool:
            return await self._get(kind, name) is None

        await self._wait(is_gone, f"{name} is gone")

    async def until_calls(self, resource: str, call: str, outcome: str = "") -> None:
        """Wait for a call to the external system."""

        async def is_called() -> bool:
            calls = self.log.effects.get(resource, ())
            return any(effect.get("call") == call and outcome in ("", effect["outcome"]) for effect in calls)

        await self._wait(is_called, f"{call} of {resource}")

    async def settled(self) -> None:
        """End a phase: the provider has done all that it does before the user acts again."""
        await self._pace.settle(self)
        phase = self.log.summary()
        self.log.clear()
        self.phases.append(json.loads(json.dumps({**phase, "objects": await self._objects()})))

    async def current_phase(self) -> Phase:
        """What happened since the last phase."""
        return json.loads(json.dumps({**self.log.summary(), "objects": await self._objects()}))

    async def _objects(self) -> Object:
        objects: Object = {}
        for kind in (THING, TICKET, RELIC, CONFIG, CLUSTER_CONFIG, USAGE, SECRET):
            listed = await self.client.list(kind, self.namespace if kind.namespaced else "")
            for data in listed.items:
                target = json.loads(data)
                name = target["metadata"]["name"]
                if not kind.namespaced and name != self.namespace:
                    continue
                label = f"{kind.kind}/{_owner_name(target, name)}"
                objects[label] = plain(flat(target), {"metadata": {"namespace": self.namespace}})
        return objects

    async def _get(self, kind: Kind, name: str) -> Object | None:
        return await self.client.get(kind, name, self.namespace if kind.namespaced else "")

    async def _wait(
        self, condition: Callable[[], Awaitable[bool]], description: str, seconds: float = 75
    ) -> None:
        deadline = time.monotonic() + seconds
        while not await condition():
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"waited {seconds} s for {description}; so far {await self.current_phase()}"
                )
            await asyncio.sleep(0.05)


def _owner_name(target: Object, name: str) -> str:
    """A usage is named by a UID, so it is known by what it is about."""
    return f"of {target['resourceRef']['name']}" if target["kind"] == "ProviderConfigUsage" else name


_KINDS = {
    kind.kind: kind for kind in (THING, TICKET, RELIC, CONFIG, CLUSTER_CONFIG, USAGE, SECRET, CONFIG_MAP)
}
__all__ = ["CLUSTER_CONFIG", "CONFIG", "RELIC", "SECRET", "THING", "TICKET", "Pace", "Phase", "ScenarioPlay"]
