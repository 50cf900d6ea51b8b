"""A provider in Go as a Deployment on a Kubernetes that runs Pods: it makes roles in a real PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator

import psycopg
import pytest

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.core_kinds import CLUSTER_ROLE_BINDING, SECRET
from crossply.kube.kind import Kind
from tests.support.e2e.scenario import condition
from tests.support.node import relay
from tests.support.node.cluster import NODE_IP, REGISTRY, NodeCluster
from tests.support.postgresql_server import PostgresServer, running_postgres
from tests.support.programs import needs
from tests.support.providers.go_packages import SMALL_WEBHOOKS, built_programs, push_package, small_package

HOME = "crossplane-system"
PROVIDER = Kind("pkg.crossplane.io", "v1", "Provider", "providers", False)
ROLE = Kind("small.example.org", "v1alpha1", "Role", "roles", True)
CONFIG = Kind("small.example.org", "v1alpha1", "ProviderConfig", "providerconfigs", True)
PATIENCE = 300.0
PORT = 5432

pytestmark = needs("postgres")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A PostgreSQL that Pods reach at the address of the node."""
    with running_postgres() as server, _relay(server.port):
        yield server


@contextlib.contextmanager
def _relay(port: int) -> Iterator[None]:
    command = [sys.executable, relay.__file__, f"{NODE_IP}:{PORT}", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command)
    time.sleep(0.5)
    try:
        assert process.poll() is None, "an address is taken"
        yield
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module", autouse=True)
def pushed(node: NodeCluster, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("provider") / "small"
    small_package(root, "on a node")
    # The Services of this cluster lead nowhere, so the API server could not call it.
    (root / SMALL_WEBHOOKS).unlink()
    push_package(root, built_programs() / "small", f"{node.registry}/provider-small:v1")


def test_a_provider_of_a_package_runs_as_a_pod(node: NodeCluster, server: PostgresServer) -> None:
    asyncio.run(play(node, server))


async def play(node: NodeCluster, server: PostgresServer) -> None:
    async with Client(load_config(node.kubeconfig)) as client, asyncio.timeout(PATIENCE):
        await create_provider(client)
        await configure(client, server)
        await client.create(ROLE, role("alice"))
        await until(client, ROLE, "alice", "Ready")
        assert limit(server, "alice") == [(3,)]
        await client.delete(ROLE, "alice", "default")
        while limit(server, "alice"):
            await asyncio.sleep(0.2)
        await client.delete(CONFIG, "server", "default")
        await client.delete(PROVIDER, "provider-small")


async def create_provider(client: Client) -> None:
    spec = {"package": f"{REGISTRY}/provider-small:v1"}
    body = {"kind": "Provider", "metadata": {"name": "provider-small"}, "spec": spec}
    await client.create(PROVIDER, {"apiVersion": PROVIDER.api_version, **body})
    revision = await until(client, PROVIDER, "provider-small", "Installed")
    # Without rbac.providers an administrator binds the role of a provider by hand.
    system = f"crossplane:provider:{revision}:system"
    binding = {
        "apiVersion": CLUSTER_ROLE_BINDING.api_version,
        "kind": CLUSTER_ROLE_BINDING.kind,
        "metadata": {"name": "provider-small"},
        "roleRef": {"apiGroup": CLUSTER_ROLE_BINDING.group, "kind": "ClusterRole", "name": system},
        "subjects": [{"kind": "ServiceAccount", "name": revision, "namespace": HOME}],
    }
    await client.create(CLUSTER_ROLE_BINDING, binding)
    await until(client, PROVIDER, "provider-small", "Healthy")


async def configure(client: Client, server: PostgresServer) -> None:
    metadata = {"name": "server", "namespace": "default"}
    login = {"login": f"{server.username}:{server.password}"}
    await client.create(
        SECRET, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": login}
    )
    spec = {
        "endpoint": f"postgres://{NODE_IP}:{PORT}/postgres?sslmode=disable",
        "credentials": {"source": "Secret", "secretRef": {**metadata, "key": "login"}},
    }
    await client.create(
        CONFIG,
        {"apiVersion": CONFIG.api_version, "kind": "ProviderConfig", "metadata": metadata, "spec": spec},
    )


def role(name: str) -> dict[str, object]:
    return {
        "apiVersion": ROLE.api_version,
        "kind": "Role",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "providerConfigRef": {"kind": "ProviderConfig", "name": "server"},
            "forProvider": {"login": True, "connectionLimit": 3},
        },
    }


async def until(client: Client, kind: Kind, name: str, condition_type: str) -> str:
    """Wait for a condition; the current revision of a package."""
    is_so = condition(condition_type, "True")
    while True:
        live = await client.get(kind, name, "default" if kind.namespaced else "") or {}
        if is_so(live):
            return str(live.get("status", {}).get("currentRevision", ""))
        await asyncio.sleep(0.2)


def limit(server: PostgresServer, name: str) -> list[tuple[int, ...]]:
    address = f"host={server.host} port={server.port} dbname=postgres user={server.username}"
    with psycopg.connect(f"{address} password={server.password}") as connection:
        return connection.execute("SELECT rolconnlimit FROM pg_roles WHERE rolname = %s", [name]).fetchall()
