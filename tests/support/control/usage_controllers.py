"""The part of a control plane that protects, run inside a test."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
import pytest

from crossply.control.control_plane import LOCAL_WEBHOOKS, ControlPlane
from crossply.control.controller_context import plane_for
from crossply.control.usages.usage_model import USAGE
from crossply.control.webhooks.usage_protection_assembly import UsageProtection
from crossply.control.webhooks.webhook_address import WebhookSettings
from crossply.kube.client import Client
from crossply.values import Object
from tests.support.server_process import Server


@pytest.fixture(scope="module")
def installed(server: Server) -> None:
    """The kinds of a control plane, and its namespace."""

    async def install() -> None:
        async with Client(server.config) as client:
            plane = ControlPlane(client, webhooks=None)
            await plane.start()
            await plane.stop()

    asyncio.run(install())


@contextlib.asynccontextmanager
async def control_plane(
    client: Client, settings: WebhookSettings = LOCAL_WEBHOOKS, own: Client | None = None
) -> AsyncIterator[Client]:
    """The part of a control plane that protects, and the client that it alone uses."""
    async with own or Client(client.config) as own:
        plane = plane_for(own)
        protection = UsageProtection(plane, settings)
        async with plane.informers:
            await protection.start()
            try:
                yield own
            finally:
                await protection.stop()
                await plane.recorder.settle()


async def until(read: Callable[[], Awaitable[Any]], seconds: float = 20.0) -> Any:
    """What a look finds, once it finds something."""
    async with asyncio.timeout(seconds):
        while not (result := await read()):
            await asyncio.sleep(0.02)
        return result


async def use(client: Client, ns: str, name: str = "u", of: str = "used", **spec: Any) -> None:
    party = {"apiVersion": "v1", "kind": "ConfigMap", "resourceRef": {"name": of}}
    body = {"apiVersion": USAGE.api_version, "kind": "Usage", "metadata": {"name": name, "namespace": ns}}
    await client.create(USAGE, {**body, "spec": {"of": party, "reason": "test", **spec}})


async def is_ready(client: Client, ns: str, name: str = "u") -> Object | None:
    obj = await client.get(USAGE, name, ns)
    return obj if obj and (obj.get("status") or {}).get("conditions") else None


async def delete_usages(client: Client, ns: str) -> None:
    """End all protection while a control plane runs."""
    for data in (await client.list(USAGE, ns)).items:
        await client.delete(USAGE, orjson.loads(data)["metadata"]["name"], ns)

    async def none_left() -> bool:
        return not (await client.list(USAGE, ns)).items

    await until(none_left)
