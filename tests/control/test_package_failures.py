"""Packages while registries fail: after a restart without theirs, and with many that cannot be installed."""

from __future__ import annotations

import contextlib
from collections import Counter

import pytest

from crossply.control.control_plane import ControlPlane
from crossply.control.kinds import COMPOSITION, CONFIGURATION, LOCK
from crossply.control.options import Options
from crossply.control.package_manager.settings import PackageSettings
from crossply.kube.client import Client
from crossply.values import yaml
from tests.support.control.usage_controllers import until
from tests.support.images import package
from tests.support.registry import ScriptedRegistry

META = {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": "Configuration", "metadata": {"name": "x"}}
BROUGHT = {
    "apiVersion": COMPOSITION.api_version,
    "kind": COMPOSITION.kind,
    "metadata": {"name": "brought"},
    "spec": {
        "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "X"},
        "mode": "Pipeline",
        "pipeline": [{"step": "a", "functionRef": {"name": "f"}}],
    },
}


def configuration(name: str, image: str) -> dict:
    kind = {"apiVersion": CONFIGURATION.api_version, "kind": CONFIGURATION.kind}
    return {**kind, "metadata": {"name": name}, "spec": {"package": image}}


@contextlib.asynccontextmanager
async def control_plane(config, directory):
    async with Client(config) as client:
        packages = PackageSettings(str(directory), service_account="")
        plane = ControlPlane(client, webhooks=None, options=Options(packages=packages))
        await plane.start()
        try:
            yield
        finally:
            await plane.stop()


@pytest.mark.usefixtures("installed")
async def test_the_cache_on_disk_suffices_to_restore_a_deleted_object(client, tmp_path):
    async def healthy():
        live = await client.get(CONFIGURATION, "x") or {}
        conditions = (live.get("status") or {}).get("conditions") or ()
        return any(
            condition["type"] == "Healthy" and condition["status"] == "True" for condition in conditions
        )

    async def composition():
        return await client.get(COMPOSITION, "brought")

    async with ScriptedRegistry().running() as registry, control_plane(client.config, tmp_path):
        registry.serve_image(package(yaml.dump_all([{**META, "spec": {}}, BROUGHT]).encode()))
        await client.create(CONFIGURATION, configuration("x", f"{registry.address}/acme/x:v1"))
        await until(healthy)
        first = await until(composition)
    async with control_plane(client.config, tmp_path):
        await client.delete(COMPOSITION, "brought")
        restored = await until(composition)
        assert restored["metadata"]["uid"] != first["metadata"]["uid"]
        assert await healthy()


@pytest.mark.usefixtures("installed")
async def test_many_dependencies_are_handled_in_turns_and_the_lock_agrees(client, tmp_path):
    """A change of the Lock enqueues it: its conditions must converge."""

    def tag_requests(registry):
        return Counter(path for _, path, _ in registry.requests if path.endswith("/tags/list"))

    async with ScriptedRegistry().running() as registry, control_plane(client.config, tmp_path):
        sources = [f"{registry.address}/acme/f{number:02}" for number in range(30)]
        dependencies = [{"function": source, "version": "*"} for source in sources]
        meta = {**META, "spec": {"dependsOn": dependencies}}
        registry.serve_image(package(yaml.dump_all([meta]).encode()), "acme/wide")
        await client.create(CONFIGURATION, configuration("wide", f"{registry.address}/acme/wide:v1"))

        async def all_requested():
            return len(tag_requests(registry)) == 30 and sum(tag_requests(registry).values()) > 40

        versions = set()

        async def settled():
            lock = await client.get(LOCK, "lock") or {"metadata": {}}
            if all(source in str(lock.get("status")) for source in sources[:5]):
                versions.add(lock["metadata"]["resourceVersion"])
            return versions and await all_requested()

        await until(settled, 50)
        assert len(versions) == 1
