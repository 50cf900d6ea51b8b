"""The provider of `directory_provider`, running against an API server, and the external system it manages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import orjson

from crossply.kube.client import Client
from crossply.kube.core_kinds import CRD, EVENT, SECRET
from crossply.kube.failures import AlreadyExists, KubeError
from crossply.kube.kind import Kind
from crossply.provider.crd import crds_of
from crossply.provider.provider_controllers import ProviderServer
from crossply.provider.provider_directory import load_provider
from crossply.values import Object
from crossply.values.backoff import RetryPauses
from tests.support.patience import PATIENCE

DIRECTORY = os.path.join(os.path.dirname(__file__), "directory_provider")
KINDS = load_provider(DIRECTORY).kinds
BOX, LID, ROOM = (kind.kind for kind in KINDS)
CONFIG = Kind(BOX.group, BOX.version, "ProviderConfig", "providerconfigs", True)
CLUSTER_CONFIG = Kind(BOX.group, BOX.version, "ClusterProviderConfig", "clusterproviderconfigs", False)
CLUSTER_USAGE = Kind(
    BOX.group, BOX.version, "ClusterProviderConfigUsage", "clusterproviderconfigusages", False
)
USAGE = Kind(BOX.group, BOX.version, "ProviderConfigUsage", "providerconfigusages", True)


@dataclass
class ProviderCase:
    """A namespace with an external system of its own."""

    client: Client
    namespace: str
    directory: str

    async def install(self) -> None:
        """Install the CRDs, and a ProviderConfig for the external system."""
        for crd in crds_of(KINDS):
            with suppress(AlreadyExists):
                await self.client.create(CRD, crd)
        for kind in (BOX, LID, ROOM, CONFIG, USAGE):
            await _until_served(self.client, kind)
        await self.create(CONFIG, "mine", {"directory": self.directory})

    async def create(
        self, kind: Kind, name: str, spec: Object, annotations: dict[str, str] | None = None, **metadata: Any
    ) -> Object:
        """Create an object."""
        place = {"namespace": self.namespace} if kind.namespaced else {}
        body = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name, **place, "annotations": annotations or {}, **metadata},
            "spec": spec,
        }
        return await self.client.create(kind, body)

    async def managed(
        self, kind: Kind, name: str, parameters: Object, spec: Object | None = None, **metadata: Any
    ) -> Object:
        """Create a managed resource of the external system."""
        reference = {"kind": "ProviderConfig", "name": "mine"}
        body = {"providerConfigRef": reference, "forProvider": parameters, **(spec or {})}
        return await self.create(kind, name, body, **metadata)

    async def secret(self, name: str, **data: str) -> None:
        """Write a Secret."""
        body = {"apiVersion": "v1", "kind": "Secret", "stringData": data}
        await self.client.apply(
            SECRET, {**body, "metadata": {"name": name, "namespace": self.namespace}}, "test"
        )

    async def patch(self, kind: Kind, name: str, patch: Object) -> Object:
        """Change an object."""
        return await self.client.patch_merge(kind, name, patch, self.namespace)

    async def get(self, kind: Kind, name: str) -> Object | None:
        """Read an object."""
        return await self.client.get(kind, name, self.namespace)

    async def until(self, kind: Kind, name: str, holds: Callable[[Object], bool]) -> Object:
        """Wait for a state of an object."""
        async with asyncio.timeout(PATIENCE):
            while True:
                obj = await self.get(kind, name)
                if obj is not None and holds(obj):
                    return obj
                await asyncio.sleep(0.02)

    async def until_ready(self, kind: Kind, name: str) -> Object:
        """Wait until a managed resource is ready and in sync."""
        return await self.until(kind, name, lambda obj: is_true(obj, "Ready") and is_true(obj, "Synced"))

    async def until_gone(self, kind: Kind, name: str) -> None:
        """Wait until an object does not exist."""
        async with asyncio.timeout(PATIENCE):
            while await self.get(kind, name) is not None:
                await asyncio.sleep(0.02)

    async def events(self, name: str) -> list[tuple[str, str]]:
        """The reasons and messages of events about an object."""
        selector = f"involvedObject.name={name}"
        listed = await self.client.list(EVENT, self.namespace, field_selector=selector)
        events = [orjson.loads(item) for item in listed.items]
        return [(event["reason"], event["message"]) for event in events]

    async def until_event(self, name: str, reason: str) -> str:
        """Wait for an event; its message."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for event_reason, message in await self.events(name):
                    if event_reason == reason:
                        return message
                await asyncio.sleep(0.02)

    def files(self) -> dict[str, Any]:
        """The external resources by name."""
        contents = {}
        for name in os.listdir(self.directory):
            if name.endswith(".json"):
                with open(os.path.join(self.directory, name), "rb") as file:
                    contents[name.removesuffix(".json")] = orjson.loads(file.read())
        return contents

    def log(self) -> list[str]:
        """The calls of the external system, in order."""
        try:
            with open(os.path.join(self.directory, "log")) as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []


def condition(obj: Object, type_: str) -> Object:
    """A condition; empty where there is none."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((entry for entry in conditions if entry["type"] == type_), {})


def is_true(obj: Object, type_: str) -> bool:
    """A condition of the current generation is true."""
    entry = condition(obj, type_)
    generation = entry.get("observedGeneration", obj["metadata"]["generation"])
    return entry.get("status") == "True" and generation == obj["metadata"]["generation"]


@asynccontextmanager
async def provider(client: Client) -> AsyncIterator[ProviderServer]:
    """Run the provider in this process."""
    server = ProviderServer(client, KINDS, RetryPauses(0.1, 1.0))
    server.start()
    try:
        yield server
    finally:
        await server.stop()


async def _until_served(client: Client, kind: Kind) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(KubeError):
                await client.list(kind)
                return
            await asyncio.sleep(0.05)
