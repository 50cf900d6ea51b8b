"""The PostgreSQL provider at work: an API server with its kinds, a PostgreSQL server, the process."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from crossply.kube.client import Client
from crossply.kube.core_kinds import SECRET
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.yaml import load
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE
from tests.support.postgresql_server import PostgresServer
from tests.support.provider_process import ProviderProcess
from tests.support.server_process import DEFINITION, Server

GROUP, VERSION = "postgresql.crossply.dev", "v1alpha1"
ROLE = Kind(GROUP, VERSION, "Role", "roles", True)
DATABASE = Kind(GROUP, VERSION, "Database", "databases", True)
GRANT = Kind(GROUP, VERSION, "Grant", "grants", True)
CONFIG = Kind(GROUP, VERSION, "ClusterProviderConfig", "clusterproviderconfigs", False)
USAGE = Kind(GROUP, VERSION, "ProviderConfigUsage", "providerconfigusages", True)
NAMESPACE = "default"


class ProviderBench:
    """What tests apply and read; the provider itself is started by each test."""

    def __init__(self, client: Client, postgres: PostgresServer, server: Server, directory: Path) -> None:
        self.client = client
        self.postgres = postgres
        self.server = server
        self.directory = directory
        self.provider = ProviderProcess("postgresql", server.kubeconfig, directory / "provider.log")

    async def configure(self, **keys: str) -> None:
        """Write the ProviderConfig `default` and its Secret; `keys` replace those of the server."""
        data = {**self.postgres.connection_secret, **keys}
        secret = _named("v1", "Secret", "postgresql-server", stringData=data)
        await self.client.apply(SECRET, secret, "test")
        credentials = {
            "source": "PostgreSQLConnectionSecret",
            "connectionSecretRef": {"namespace": NAMESPACE, "name": "postgresql-server"},
        }
        spec = {"sslMode": "disable", "credentials": credentials}
        config = _named(CONFIG.api_version, CONFIG.kind, "default", spec=spec)
        del config["metadata"]["namespace"]
        await self.client.apply(CONFIG, config, "test")

    async def apply(self, kind: Kind, name: str, secret: str = "", **parameters: Any) -> None:
        """Apply a managed resource; its parameters are in the API's spelling."""
        spec: Object = {"forProvider": parameters}
        if secret:
            spec["writeConnectionSecretToRef"] = {"name": secret}
        await self.client.apply(kind, _named(kind.api_version, kind.kind, name, spec=spec), "test")

    async def apply_app(self, name: str) -> None:
        """A role with a Secret, a database of it, and a grant."""
        await self.apply(ROLE, name, secret=f"{name}-role", privileges={"login": True})
        await self.apply(DATABASE, name, ownerRef={"name": name})
        reference = {"name": name}
        await self.apply(GRANT, name, privileges=["CONNECT"], roleRef=reference, databaseRef=reference)

    async def delete_app(self, name: str) -> None:
        for kind in (ROLE, DATABASE, GRANT):
            await self.client.delete(kind, name, NAMESPACE)

    async def get(self, kind: Kind, name: str) -> Object | None:
        return await self.client.get(kind, name, NAMESPACE)

    async def data_of(self, secret: str) -> dict[str, str]:
        """The content of a Secret; empty where it does not exist."""
        live = await self.client.get(SECRET, secret, NAMESPACE)
        data = (live or {}).get("data") or {}
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    async def until_ready(self, kind: Kind, *names: str, seconds: float = PATIENCE) -> None:
        await until(lambda: self.are_ready(kind, names), seconds, lambda: self.explain(kind, names))

    async def until_gone(self, kind: Kind, *names: str, seconds: float = PATIENCE) -> None:
        async def are_gone() -> bool:
            return not any([await self.get(kind, name) for name in names])

        await until(are_gone, seconds, lambda: self.explain(kind, names))

    async def until_message(self, kind: Kind, name: str, text: str) -> str:
        """Wait until the condition Synced has this text; return its whole message."""
        message = ""

        async def says() -> bool:
            nonlocal message
            message = condition(await self.get(kind, name), "Synced").get("message", "")
            return text in message

        await until(says, PATIENCE, lambda: self.explain(kind, [name]))
        return message

    async def are_ready(self, kind: Kind, names: Iterable[str]) -> bool:
        for name in names:
            resource = await self.get(kind, name)
            if any(condition(resource, of).get("status") != "True" for of in ("Ready", "Synced")):
                return False
        return True

    async def explain(self, kind: Kind, names: Iterable[str]) -> str:
        states = [f"{name}: {(await self.get(kind, name) or {}).get('status')}" for name in names]
        return "\n".join([*states[:5], self.provider.log[-3000:]])


@asynccontextmanager
async def provider_bench(postgres: PostgresServer, directory: Path) -> AsyncIterator[ProviderBench]:
    """An API server with the CRDs of the provider, which is not started yet."""
    (directory / "api").mkdir()
    server = Server(directory / "api", "--in-memory").start()
    try:
        async with Client(server.config) as client:
            await _install_kinds(client)
            bench = ProviderBench(client, postgres, server, directory)
            (directory / "provider.log").touch()
            try:
                yield bench
            finally:
                bench.provider.stop()
    finally:
        server.stop()


async def _install_kinds(client: Client) -> None:
    for file in sorted((ROOT / "providers" / "postgresql" / "package" / "crds").iterdir()):
        await client.apply(DEFINITION, load(file.read_bytes()), "test")
    for kind in (ROLE, DATABASE, GRANT, CONFIG):
        await until(lambda kind=kind: _is_served(client, kind), PATIENCE)


async def _is_served(client: Client, kind: Kind) -> bool:
    try:
        await client.list(kind)
    except KubeError:
        return False
    return True


async def until(condition: Any, seconds: float, explain: Any = None) -> None:
    """Wait for a state."""
    end = asyncio.get_running_loop().time() + seconds
    while not await condition():
        if asyncio.get_running_loop().time() > end:
            raise AssertionError(await explain() if explain else "it did not happen")
        await asyncio.sleep(0.1)


def condition(resource: Object | None, of: str) -> Object:
    conditions = ((resource or {}).get("status") or {}).get("conditions") or ()
    return next((entry for entry in conditions if entry["type"] == of), {})


def _named(api_version: str, kind: str, name: str, **content: Any) -> Object:
    metadata = {"namespace": NAMESPACE, "name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}
