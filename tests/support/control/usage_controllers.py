"""The part of a control plane that protects, run inside a test."""

from __future__ import annotations

import asyncio
import contextlib

import orjson
import pytest

from crossply.control.control_plane import LOCAL_WEBHOOKS, ControlPlane
from crossply.control.plane import plane_for
from crossply.control.usages.usage import USAGE
from crossply.control.webhooks.usage_protection import UsageProtection
from crossply.kube.client import Client


@pytest.fixture(scope="module")
def installed(server):
    """The kinds of a control plane, and its namespace."""

    async def install():
        async with Client(server.config) as client:
            plane = ControlPlane(client, webhooks=None)
            await plane.start()
            await plane.stop()

    asyncio.run(install())


@contextlib.asynccontextmanager
async def control_plane(client, settings=LOCAL_WEBHOOKS, own=None):
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


async def until(look, seconds=20.0):
    """What a look finds, once it finds something."""
    async with asyncio.timeout(seconds):
        while not (found := await look()):
            await asyncio.sleep(0.02)
        return found


async def use(client, ns, name="u", of="used", **spec):
    party = {"apiVersion": "v1", "kind": "ConfigMap", "resourceRef": {"name": of}}
    body = {"apiVersion": USAGE.api_version, "kind": "Usage", "metadata": {"name": name, "namespace": ns}}
    await client.create(USAGE, {**body, "spec": {"of": party, "reason": "test", **spec}})


async def is_ready(client, ns, name="u"):
    obj = await client.get(USAGE, name, ns)
    return obj if obj and (obj.get("status") or {}).get("conditions") else None


async def delete_usages(client, ns):
    """End all protection while a control plane runs."""
    for data in (await client.list(USAGE, ns)).items:
        await client.delete(USAGE, orjson.loads(data)["metadata"]["name"], ns)

    async def none_left():
        return not (await client.list(USAGE, ns)).items

    await until(none_left)
