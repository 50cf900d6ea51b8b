"""Providers of packages in `crossply up`: containers, with networks of their own and working webhooks."""

from __future__ import annotations

import asyncio
import os
import socket

import orjson
import pytest

from crossply.kube.core_kinds import EVENT, SERVICE_ACCOUNT
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from tests.support import registry as peers
from tests.support.cli.local_provider import (
    PROVIDER,
    PROVIDER_REVISION,
    THING,
    client_of,
    condition,
    definition,
    thing,
    until,
)
from tests.support.cli.up_process import eventually, kill, plane_at
from tests.support.programs import ENGINE, needs
from tests.support.provider_images import provider_image

pytestmark = [
    needs(ENGINE, "docker-registry", "pasta", "go"),
    pytest.mark.xdist_group("up"),
]
SECOND = Kind("try.example.org", "v2", "Thing", "things", True)
RUNTIME_CONFIG = Kind(
    "pkg.crossplane.io", "v1beta1", "DeploymentRuntimeConfig", "deploymentruntimeconfigs", False
)
VALIDATION = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "provider-try"},
    "webhooks": [
        {
            "name": "things.try.example.org",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"service": {"name": "any", "namespace": "any", "path": "/validate"}},
            "rules": [
                {
                    "apiGroups": ["try.example.org"],
                    "apiVersions": ["v1"],
                    "resources": ["things"],
                    "operations": ["CREATE"],
                }
            ],
        }
    ],
}


def converted_definition():
    """The CRD of Things in two versions, which the provider converts."""
    conversion = {
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": "any", "namespace": "any", "path": "/convert"}},
        },
    }
    crd = definition(conversion=conversion)
    first = crd["spec"]["versions"][0]
    crd["spec"]["versions"] = [first, {**first, "name": "v2", "storage": False}]
    return crd


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    with peers.docker_registry(tmp_path_factory.mktemp("registry")) as address:
        peers.pushed(address, provider_image(converted_definition(), VALIDATION), "provider-try:v1")
        peers.pushed(address, provider_image(name="provider-other"), "provider-other:v1")
        yield address


def provider(address: str, name: str):
    spec = {"package": f"{address}/{name}:v1"}
    if name == "provider-try":
        spec["runtimeConfigRef"] = {"name": "debug"}
    return {
        "apiVersion": PROVIDER.api_version,
        "kind": "Provider",
        "metadata": {"name": name},
        "spec": spec,
    }


def runtime_config(port: int):
    container = {
        "name": "package-runtime",
        "args": ["--debug"],
        "env": [{"name": "DIAL", "value": f"127.0.0.1:{port}"}],
    }
    template = {"spec": {"selector": {}, "template": {"spec": {"containers": [container]}}}}
    return {
        "apiVersion": RUNTIME_CONFIG.api_version,
        "kind": RUNTIME_CONFIG.kind,
        "metadata": {"name": "debug"},
        "spec": {
            "deploymentTemplate": template,
            "serviceAccountTemplate": {"metadata": {"name": "things"}},
        },
    }


def log(plane, name: str = "provider-try") -> str:
    path = plane.data / "logs" / "provider" / f"{name}.log"
    return path.read_text() if path.exists() else ""


def processes(plane) -> list[int]:
    """The providers of this control plane, as processes of this machine: by the name of their host."""
    pids = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as command, open(f"/proc/{pid}/environ", "rb") as environ:
                if command.read().startswith(b"/provider\0") and port_of(plane) in environ.read():
                    pids.append(int(pid))
        except OSError:
            continue
    return pids


def port_of(plane) -> bytes:
    return f"KUBERNETES_SERVICE_PORT={plane.server.rpartition(':')[2]}\0".encode()


async def is_healthy(client, name):
    live = await client.get(PROVIDER, name)
    return live if condition(live, "Healthy")[0] == "True" else None


async def served_by(client):
    return ((await client.get(THING, "one", "default")).get("status") or {}).get("by")


async def test_published_providers_run_side_by_side_and_their_webhooks_are_called(registry, tmp_path):
    with plane_at(tmp_path / "data") as plane, socket.create_server(("127.0.0.1", 0)) as database:
        port = database.getsockname()[1]
        assert plane.up(f"--provider-host-ports={port}").returncode == 0
        async with client_of(plane.data) as client:
            await client.create(RUNTIME_CONFIG, runtime_config(port))
            for name in ("provider-try", "provider-other"):
                await client.create(PROVIDER, provider(registry, name))
            for name in ("provider-try", "provider-other"):
                await until(lambda name=name: is_healthy(client, name))
            revision = (await is_healthy(client, "provider-try"))["status"]["currentRevision"]
            live = await client.get(PROVIDER_REVISION, revision)
            assert condition(live, "NetworkIsolated")[0] == "True"
            assert f"as 65532 on {revision} [--debug]" in log(plane), "neither root nor the machine's name"
            assert f"dialled 127.0.0.1:{port} true" in log(plane)
            assert "fatal" not in log(plane) + log(plane, "provider-other"), "each has a port 8080"

            await client.create(THING, {**thing(), "spec": {"size": 3}})
            assert await until(lambda: served_by(client)) == revision
            assert (await client.get(SECOND, "one", "default"))["spec"] == {"width": 3}
            with pytest.raises(KubeError, match="thirteen is no size"):
                await client.create(THING, {**thing("two"), "spec": {"size": 13}})

            assert "may not list things.try.example.org" in await until(lambda: missing_right(client))
            assert await client.get(SERVICE_ACCOUNT, "things", "crossplane-system"), "as its template says"
            await comes_back(client, plane)
        assert len(processes(plane)) == 2
        kill(plane.process)
        eventually(lambda: not processes(plane))
        assert plane.up().returncode == 0
        async with client_of(plane.data) as client:
            await until(lambda: is_healthy(client, "provider-try"))

            async def converted():
                return (await client.get(SECOND, "one", "default"))["spec"] == {"width": 3}

            assert await until(lambda: quietly(converted)), "the webhooks are at another port by now"
            await client.delete(PROVIDER, "provider-other")
            eventually(lambda: len(processes(plane)) == 1)
        plane.down()
        eventually(lambda: not processes(plane))
        assert "asked to end" in log(plane)
        assert not (plane.data / "providers").exists(), "no key and no token is left"


async def missing_right(client):
    """The missing right of a provider without kinds, as its event reports it."""
    for data in (await client.list(EVENT)).items:
        event = orjson.loads(data)
        if event["reason"] == "MissingRight":
            return event["message"]
    return None


async def comes_back(client, plane):
    """A provider that is killed is started again, and its webhooks are called."""
    before = log(plane).count("starting provider-try")
    hosts = [pid for pid in processes(plane) if b"PROVIDER_NAME=provider-try\0" in environ(pid)]
    os.kill(hosts[0], 9)
    eventually(lambda: log(plane).count("starting provider-try") > before)

    async def converted():
        return (await client.get(SECOND, "one", "default"))["spec"] == {"width": 3}

    assert await until(lambda: quietly(converted))
    await until(lambda: is_healthy(client, "provider-try"))


def environ(pid: int) -> bytes:
    with open(f"/proc/{pid}/environ", "rb") as file:
        return file.read()


async def quietly(read):
    """What a coroutine gives; nothing while it fails."""
    try:
        return await read()
    except KubeError:
        await asyncio.sleep(0.1)
        return None
