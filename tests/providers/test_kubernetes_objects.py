"""Objects of the Kubernetes provider, whose process works on real API servers."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from crossply.kube.client import Client
from crossply.kube.core_kinds import SECRET
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.yaml import load
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE
from tests.support.provider_process import ProviderProcess
from tests.support.server_process import CONFIG_MAP, DEFINITION, Server, config_map

pytestmark = pytest.mark.xdist_group("provider-kubernetes")

GROUP = "kubernetes.crossplane.io"
OBJECT = Kind(GROUP, "v1alpha2", "Object", "objects", False)
CONFIG = Kind(GROUP, "v1alpha1", "ProviderConfig", "providerconfigs", False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"), "--in-memory").start()
    provider = ProviderProcess(
        "kubernetes", running.kubeconfig, tmp_path_factory.mktemp("log") / "provider.log"
    )
    try:
        asyncio.run(_install(running))
        provider.start()
        yield running
    finally:
        provider.stop()
        running.stop()


async def _install(server: Server) -> None:
    async with Client(server.config) as client:
        for file in sorted((ROOT / "providers" / "kubernetes" / "package" / "crds").iterdir()):
            await client.apply(DEFINITION, load(file.read_bytes()), "test")
        spec = {"credentials": {"source": "InjectedIdentity"}}
        await _until(lambda: _applied(client, CONFIG, "default", spec))


async def _applied(client: Client, kind: Kind, name: str, spec: Object) -> bool:
    manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": spec}
    try:
        await client.apply(kind, manifest, "test")
    except KubeError:
        return False  # the kind is not served yet
    return True


async def _until(condition: Any) -> Any:
    async with asyncio.timeout(PATIENCE):
        while not (result := await condition()):
            await asyncio.sleep(0.1)
    return result


class Cluster:
    """What tests do with Objects."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def apply(self, name: str, manifest: Object, **spec: Any) -> None:
        assert await _applied(self.client, OBJECT, name, {"forProvider": {"manifest": manifest}, **spec})

    async def until(self, name: str, of: str, status: str, text: str = "") -> Object:
        async def is_so() -> Object | None:
            live = await self.client.get(OBJECT, name)
            conditions = ((live or {}).get("status") or {}).get("conditions") or ()
            matching = [entry for entry in conditions if entry["type"] == of and entry["status"] == status]
            return live if any(text in entry.get("message", "") for entry in matching) else None

        live: Object = await _until(is_so)
        return live

    async def remove(self, *names: str) -> None:
        for name in names:
            await self.client.delete(OBJECT, name)
        for name in names:
            await _until(lambda name=name: self._is_gone(name))

    async def _is_gone(self, name: str) -> bool:
        return await self.client.get(OBJECT, name) is None

    async def nudge(self, name: str, token: str) -> None:
        """Have it reconciled now, and wait for that."""
        patch = {"metadata": {"annotations": {"crossplane.io/reconcile-requested-at": token}}}
        await self.client.patch_merge(OBJECT, name, patch)

        async def is_handled() -> bool:
            live = await self.client.get(OBJECT, name)
            return bool(live and live["status"].get("lastHandledReconcileAt") == token)

        await _until(is_handled)

    async def data(self, name: str) -> Any:
        live = await self.client.get(CONFIG_MAP, name, "default")
        return None if live is None else live.get("data")


@pytest.fixture
async def cluster(server: Server) -> AsyncIterator[Cluster]:
    async with Client(server.config) as client:
        yield Cluster(client)


def manifest(name: str = "", **data: str) -> Object:
    metadata = {"namespace": "default", **({"name": name} if name else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def test_a_manifest_is_applied_repaired_narrowed_and_deleted(cluster: Cluster):
    await cluster.apply("plain", manifest(a="1", b="2"))
    live = await cluster.until("plain", "Ready", "True")
    assert live["status"]["atProvider"]["manifest"]["data"] == {"a": "1", "b": "2"}
    await cluster.client.patch_merge(CONFIG_MAP, "plain", {"data": {"a": "x", "mine": "y"}}, "default")
    await cluster.nudge("plain", "1")
    assert await cluster.data("plain") == {"a": "1", "b": "2", "mine": "y"}
    await cluster.apply("plain", manifest(a="1"))
    await _until(lambda: _equals(cluster, "plain", {"a": "1", "mine": "y"}))
    await cluster.remove("plain")
    assert await cluster.data("plain") is None


async def _equals(cluster: Cluster, name: str, data: Object) -> bool:
    return bool(await cluster.data(name) == data)


async def test_a_manifest_of_a_name_alone_is_applied_too(cluster: Cluster):
    bare = manifest()
    del bare["data"]
    await cluster.apply("bare", bare)
    await cluster.until("bare", "Ready", "True")
    await cluster.remove("bare")


async def test_an_object_that_is_only_observed_is_left_alone(cluster: Cluster):
    await cluster.client.apply(CONFIG_MAP, config_map("theirs", key="value"), "somebody")
    await cluster.apply("theirs", manifest(key="other"), managementPolicies=["Observe"])
    live = await cluster.until("theirs", "Ready", "True")
    assert live["status"]["atProvider"]["manifest"]["data"] == {"key": "value"}
    await cluster.remove("theirs")
    assert await cluster.data("theirs") == {"key": "value"}


async def test_references_bring_values_and_protect_their_objects(cluster: Cluster):
    await cluster.apply(
        "taker",
        manifest(own="1"),
        references=[
            {
                "patchesFrom": {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "namespace": "default",
                    "name": "giver",
                    "fieldPath": "data.word",
                },
                "toFieldPath": "data.taken",
            },
            {"dependsOn": {"name": "base"}},
        ],
    )
    await cluster.until("taker", "Synced", "False", "ConfigMap default/giver not found")
    await cluster.apply("base", manifest())
    await cluster.apply("giver", manifest(word="hello"))
    await cluster.until("taker", "Ready", "True")
    assert await cluster.data("taker") == {"own": "1", "taken": "hello"}
    await cluster.client.delete(OBJECT, "base")
    base = await cluster.client.get(OBJECT, "base")
    assert base is not None
    assert any(
        finalizer.startswith(f"{GROUP}/referred-by-object-") for finalizer in base["metadata"]["finalizers"]
    )
    await cluster.remove("taker", "base", "giver")


@pytest.mark.parametrize(
    ("readiness", "ready", "text"),
    [
        ({"policy": "DeriveFromObject"}, "False", ""),
        ({"policy": "AllTrue"}, "False", ""),
        ({"policy": "DeriveFromCelQuery", "celQuery": "object.data.a == '1'"}, "True", ""),
        ({"policy": "DeriveFromCelQuery", "celQuery": "object.data.a == '2'"}, "False", ""),
        ({"policy": "DeriveFromCelQuery", "celQuery": "object.data.b == 1"}, "False", "failed to eval"),
        ({"policy": "DeriveFromCelQuery", "celQuery": "object."}, "False", "failed to compile query"),
        ({"policy": "DeriveFromCelQuery", "celQuery": "object.data.a"}, "False", "does not return a bool"),
    ],
)
async def test_readiness_follows_its_policy(cluster: Cluster, readiness: Object, ready: str, text: str):
    await cluster.apply("judged", manifest(a="1"), readiness=readiness)
    await cluster.until("judged", "Ready", ready, text)
    await cluster.remove("judged")


async def test_connection_details_come_from_objects_of_the_cluster(cluster: Cluster):
    metadata = {"namespace": "default", "name": "login"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"word": "geheim"}}
    source = {"apiVersion": "v1", "kind": "Secret", "namespace": "default", "name": "login"}
    await cluster.apply(
        "login",
        secret,
        connectionDetails=[{**source, "fieldPath": "data.word", "toConnectionSecretKey": "password"}],
        writeConnectionSecretToRef={"namespace": "default", "name": "published"},
    )
    await cluster.until("login", "Ready", "True")

    async def published() -> Any:
        return await cluster.client.get(SECRET, "published", "default")

    live = await _until(published)
    assert base64.b64decode(live["data"]["password"]) == b"geheim"
    await cluster.remove("login")


async def test_a_manifest_that_the_server_refuses_has_the_reason(cluster: Cluster):
    await cluster.apply("odd", {"apiVersion": "v1", "kind": "Oddity", "metadata": {}})
    await cluster.until("odd", "Synced", "False", 'no matches for kind "Oddity"')
    await cluster.apply("odd", {**manifest(), "metadata": {}})
    await cluster.until("odd", "Synced", "False", "has no namespace")


async def test_another_cluster_is_reached_by_the_kubeconfig_of_a_secret(cluster: Cluster, tmp_path: Path):
    other = Server(tmp_path, "--in-memory").start()
    try:
        await _write_kubeconfig(cluster.client, Path(other.kubeconfig).read_text())
        await cluster.apply("abroad", manifest(a="1"), providerConfigRef={"name": "other"})
        await cluster.until("abroad", "Ready", "True")
        assert await cluster.data("abroad") is None
        async with Client(other.config) as client:
            assert await client.get(CONFIG_MAP, "abroad", "default") is not None
        await cluster.remove("abroad")
        await _write_kubeconfig(cluster.client, "users: [{name: u, user: {exec: {command: sh}}}]")
        await cluster.apply("abroad", manifest(a="1"), providerConfigRef={"name": "other"})
        await cluster.until("abroad", "Synced", "False", "would use files or programs of this machine")
    finally:
        other.stop()


async def _write_kubeconfig(client: Client, text: str) -> None:
    metadata = {"namespace": "default", "name": "other-cluster"}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"kubeconfig": text}}
    await client.apply(SECRET, secret, "test")
    reference = {"namespace": "default", "name": "other-cluster", "key": "kubeconfig"}
    spec = {"credentials": {"source": "Secret", "secretRef": reference}}
    assert await _applied(client, CONFIG, "other", spec)
