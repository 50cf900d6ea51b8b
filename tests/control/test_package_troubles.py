"""Packages outlast a restart of the control plane while their registry is gone."""

from __future__ import annotations

import contextlib

import pytest

from crossply.control.kinds import COMPOSITION, CONFIGURATION
from crossply.control.options import Options
from crossply.control.packages.settings import PackageSettings
from crossply.control.running import ControlPlane
from crossply.kube.client import Client
from crossply.values import yaml
from tests.control.protecting import until
from tests.packages.making import package
from tests.packages.peers import Lying

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
def test_what_is_kept_on_disk_is_enough_to_put_back_what_somebody_deleted(connect, tmp_path):
    async def case(client):
        async def healthy():
            found = await client.get(CONFIGURATION, "x") or {}
            conditions = (found.get("status") or {}).get("conditions") or ()
            return any(each["type"] == "Healthy" and each["status"] == "True" for each in conditions)

        async def brought():
            return await client.get(COMPOSITION, "brought")

        async with Lying().running() as registry, control_plane(client.config, tmp_path):
            registry.serve_image(package(yaml.dump_all([{**META, "spec": {}}, BROUGHT]).encode()))
            body = {"metadata": {"name": "x"}, "spec": {"package": f"{registry.address}/acme/x:v1"}}
            kind = {"apiVersion": CONFIGURATION.api_version, "kind": CONFIGURATION.kind}
            await client.create(CONFIGURATION, {**kind, **body})
            await until(healthy)
            first = await until(brought)
        async with control_plane(client.config, tmp_path):
            await client.delete(COMPOSITION, "brought")
            again = await until(brought)
            assert again["metadata"]["uid"] != first["metadata"]["uid"]
            assert await healthy()

    connect(case)
