"""Revisions of packages for cases about what runs them, and the part of a control plane that does."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
import pytest

from crossply.control.controller_context import plane_for
from crossply.control.kinds import FUNCTION_REVISION, PROVIDER_REVISION
from crossply.control.runtimes.mutual_tls_certificates import CredentialSettings
from crossply.control.runtimes.package_runtime_choice import parse_runtimes
from crossply.control.runtimes.runtime_set import Runtimes, RuntimeSettings
from crossply.kube.client import Client
from crossply.kube.core_kinds import DEPLOYMENT
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.patience import PATIENCE

POST = "post establish runtime hook failed for package"
WAITS = POST + ': {} package deployment has no condition of type "Available" yet'


@contextlib.asynccontextmanager
async def runtimes(
    client: Client, ns: str, packages: str = "Deployment", rollout: bool = True
) -> AsyncIterator[Client]:
    """The part of a control plane that runs packages, in a namespace of its own; gives its client."""
    settings = RuntimeSettings(parse_runtimes(packages), CredentialSettings(ns))
    async with Client(client.config) as own:
        plane = plane_for(own)
        running = Runtimes(plane, settings, rollout)
        async with plane.informers:
            try:
                await running.start()
                yield own
            finally:
                await running.stop()
                await plane.recorder.settle()


@pytest.fixture
async def alone(client: Client) -> AsyncIterator[None]:
    """Revisions belong to no namespace: none is left for the next case."""
    yield
    for kind in (FUNCTION_REVISION, PROVIDER_REVISION):
        for data in (await client.list(kind)).items:
            await client.delete(kind, orjson.loads(data)["metadata"]["name"])


class Revision:
    """A revision that is created and established."""

    def __init__(self, client: Client, kind: Kind = FUNCTION_REVISION, package: str = "") -> None:
        self.client, self.kind = client, kind
        self.package = package or f"fn-{secrets.token_hex(4)}"
        self.name = f"{self.package}-{secrets.token_hex(6)}"

    async def make(self, state: str = "Active", **spec: Any) -> Revision:
        body = {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": {"name": self.name, "labels": {"pkg.crossplane.io/package": self.package}},
            "spec": {
                "image": "registry.example.org/somebody/fn:v1",
                "revision": 1,
                "desiredState": state,
                "tlsServerSecretName": f"{self.package}-tls-server",
                **spec,
            },
        }
        self.uid = (await self.client.create(self.kind, body))["metadata"]["uid"]
        return self

    async def get(self) -> Object:
        live = await self.client.get(self.kind, self.name)
        assert live is not None
        return live

    async def establish(self) -> Revision:
        """Set the revision healthy, as its controller would."""
        condition = {
            "type": "RevisionHealthy",
            "status": "True",
            "reason": "HealthyPackageRevision",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        await self.set_status(conditions=[condition])
        return self

    async def set_status(self, **fields: Any) -> None:
        async def write() -> bool:
            live = await self.get()
            status = {**(live.get("status") or {}), **fields}
            await self.client.update_status(self.kind, {**live, "status": status})
            return True

        await eventually(write)

    async def until(self, check: Callable[[Object], Any]) -> Object:
        return await eventually(self.get, check)


async def eventually(read: Callable[[], Awaitable[Any]], check: Callable[[Any], Any] = bool) -> Any:
    end = time.monotonic() + PATIENCE
    while True:
        result, why = None, None
        try:
            result = await read()
            if check(result):
                return result
        except Exception as problem:  # noqa: BLE001 - not yet
            why = problem
        assert time.monotonic() < end, (result, why)
        await asyncio.sleep(0.02)


def runtime_says(status: str, message: str | None = None) -> Callable[[Object], bool]:
    def check(revision: Object) -> bool:
        [condition] = [
            item for item in revision["status"].get("conditions") or () if item["type"] == "RuntimeHealthy"
        ]
        return condition["status"] == status and message in (None, condition.get("message", ""))

    return check


async def make_available(client: Client, ns: str, name: str, status: str = "True", message: str = "") -> None:
    """Set the status as the controller of Deployments would."""
    live = await client.get(DEPLOYMENT, name, ns)
    assert live is not None
    condition = {"type": "Available", "status": status, "reason": "Said", "message": message}
    await client.update_status(DEPLOYMENT, {**live, "status": {"conditions": [condition]}})
