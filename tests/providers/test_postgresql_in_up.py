"""The example of the PostgreSQL provider as users run it: `crossply up` starts the provider."""

from __future__ import annotations

import asyncio
import base64
import subprocess
from pathlib import Path
from typing import Any

import pytest

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.core_kinds import SECRET
from crossply.kube.discovery import Discovery
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.yaml import read_stream
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE
from tests.support.postgresql_provider import CONFIG, NAMESPACE, condition, until
from tests.support.postgresql_server import PostgresServer
from tests.support.server_process import CROSSPLY

pytestmark = pytest.mark.xdist_group("postgresql")

EXAMPLES = ROOT / "providers" / "postgresql" / "examples"
PROVIDER = Kind("pkg.crossplane.io", "v1", "Provider", "providers", False)
APP = Kind("platform.example.org", "v1alpha1", "AppDatabase", "appdatabases", True)


async def test_the_example_makes_a_database_that_its_secret_opens(postgres: PostgresServer, tmp_path: Path):
    data = tmp_path / "data"
    up = [CROSSPLY, "up", "--detach", "--in-memory", "--data", str(data), "--allow-local-functions=providers"]
    await asyncio.to_thread(subprocess.run, up, cwd=ROOT, check=True, capture_output=True)
    try:
        async with Client(load_config(str(data / "kubeconfig"))) as client:
            await _play(client, postgres)
    finally:
        down = [CROSSPLY, "down", "--data", str(data)]
        await asyncio.to_thread(subprocess.run, down, check=True, capture_output=True)


async def _play(client: Client, postgres: PostgresServer) -> None:
    metadata = {"namespace": NAMESPACE, "name": "postgresql-server"}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "stringData": postgres.connection_secret,
    }
    await client.apply(SECRET, secret, "test")
    discovery = Discovery(client)
    for name in ("provider", "config", "app-database/definition", "app-database/composition",
                 "app-database/functions", "app-database/app"):  # fmt: skip
        for document in read_stream((EXAMPLES / f"{name}.yaml").read_bytes()):
            await until(lambda obj=document.value: _is_applied(client, discovery, obj), PATIENCE)
    assert condition(await client.get(PROVIDER, "provider-postgresql"), "Installed")["status"] == "True"

    async def is_ready() -> bool:
        app = await client.get(APP, "orders", NAMESPACE)
        return condition(app, "Ready").get("status") == "True"

    async def explain() -> str:
        return f"{await client.get(APP, 'orders', NAMESPACE)}"

    await until(is_ready, PATIENCE, explain)
    password = await _password(client)
    assert postgres.can_log_in("orders", password, "orders")

    postgres.query("DROP DATABASE orders")
    postgres.query("ALTER ROLE orders PASSWORD 'changed'")
    for kind in ("Role", "Database"):
        await _reconcile_all(client, await discovery.kind_for(CONFIG.api_version, kind), "1")
    await until(lambda: asyncio.to_thread(postgres.can_log_in, "orders", password, "orders"), PATIENCE)

    await client.delete(SECRET, "orders-connection", NAMESPACE)
    await _reconcile_all(client, await discovery.kind_for(CONFIG.api_version, "Role"), "2")
    await until(lambda: _has_other_password(client, postgres, password), PATIENCE)

    await client.delete(APP, "orders", NAMESPACE)

    async def is_nothing_left() -> bool:
        return "orders" not in postgres.names()

    await until(is_nothing_left, PATIENCE)


async def _is_applied(client: Client, discovery: Discovery, obj: Object) -> bool:
    from crossply.errors import CrossplyError

    try:
        await client.apply(await discovery.kind_for(obj["apiVersion"], obj["kind"]), obj, "test")
    except CrossplyError:
        return False  # its kind is not served yet
    return True


async def _password(client: Client) -> str:
    secret: Any = await client.get(SECRET, "orders-connection", NAMESPACE)
    return base64.b64decode(((secret or {}).get("data") or {}).get("password", "")).decode()


async def _has_other_password(client: Client, postgres: PostgresServer, former: str) -> bool:
    password = await _password(client)
    return bool(password) and password != former and postgres.can_log_in("orders", password, "orders")


async def _reconcile_all(client: Client, kind: Kind, token: str) -> None:
    """Ask for what would happen within a minute anyway."""
    import orjson

    patch = {"metadata": {"annotations": {"crossplane.io/reconcile-requested-at": token}}}
    for item in (await client.list(kind, NAMESPACE)).items:
        await client.patch_merge(kind, orjson.loads(item)["metadata"]["name"], patch, NAMESPACE)
