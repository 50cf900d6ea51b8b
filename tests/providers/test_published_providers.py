"""Real providers in Go, unmodified, from a real registry in `crossply up`: what they manage is real.

One is published, and has conversion webhooks; the other is our own on the newest crossplane-runtime, has an
admission webhook, and makes roles in a real PostgreSQL. `make test-providers` runs this.
"""

from __future__ import annotations

import base64
import os
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from crossply.kube.client import Client
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.cli.local_provider import PROVIDER, client_of, condition, until
from tests.support.cli.up_process import Plane, eventually, kill, plane_at
from tests.support.programs import ENGINE, needs
from tests.support.providers.go_packages import (
    built_programs,
    published_package,
    push_package,
    small_package,
)
from tests.support.registry import docker_registry

pytestmark = [
    pytest.mark.skipif(not os.environ.get("CROSSPLY_PROVIDERS"), reason="make test-providers runs it"),
    needs(ENGINE, "docker-registry", "postgres", "pasta"),
    pytest.mark.time_limit(900),
]

ROLE = Kind("small.example.org", "v1alpha1", "Role", "roles", True)
CONFIG = Kind("small.example.org", "v1alpha1", "ProviderConfig", "providerconfigs", True)
OBJECT = Kind("kubernetes.crossplane.io", "v1alpha2", "Object", "objects", False)
OLD_OBJECT = Kind("kubernetes.crossplane.io", "v1alpha1", "Object", "objects", False)
OBJECT_CONFIG = Kind("kubernetes.crossplane.io", "v1alpha1", "ProviderConfig", "providerconfigs", False)
RUNTIME_CONFIG = Kind(
    "pkg.crossplane.io", "v1beta1", "DeploymentRuntimeConfig", "deploymentruntimeconfigs", False
)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
SECRET = Kind("", "v1", "Secret", "secrets", True)
CRD = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
PROGRAMS = {"provider-small": "small", "provider-kubernetes": "provider-kubernetes"}


@dataclass
class Stage:
    """A control plane with a registry and a PostgreSQL beside it."""

    plane: Plane
    registry: str
    postgres: Any

    def up(self) -> None:
        done = self.plane.up(f"--provider-host-ports={self.postgres.port}")
        assert done.returncode == 0, done.stderr

    def role(self, name: str) -> tuple[bool, int] | None:
        """Whether a role may log in, and its connection limit."""
        with psycopg.connect(self.dsn("admin", self.postgres.password)) as connection:
            query = "SELECT rolcanlogin, rolconnlimit FROM pg_roles WHERE rolname = %s"
            return connection.execute(query, [name]).fetchone()

    def run(self, statement: str) -> None:
        with psycopg.connect(self.dsn("admin", self.postgres.password)) as connection:
            connection.execute(statement)  # type: ignore[call-overload]

    def dsn(self, user: str, password: str) -> str:
        server = self.postgres
        return f"host={server.host} port={server.port} dbname=postgres user={user} password={password}"


@pytest.fixture(scope="module")
def programs() -> pathlib.Path:
    return built_programs()


@pytest.fixture(scope="module")
def stage(
    programs: pathlib.Path, postgres: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    place = tmp_path_factory.mktemp("published")
    with docker_registry(tmp_path_factory.mktemp("registry")) as registry:
        for version in ("v1", "v2"):
            small_package(place / f"small-{version}", f"version {version}")
            reference = f"{registry}/test/provider-small:{version}"
            push_package(place / f"small-{version}", programs / "small", reference)
        published_package(place / "published", programs)
        published = f"{registry}/test/provider-kubernetes:v0.17.1"
        push_package(place / "published", programs / "provider-kubernetes", published)
        with plane_at(place / "data") as plane:
            scene = Stage(plane, registry, postgres)
            scene.up()
            yield scene


def provider(stage: Stage, name: str, version: str) -> Object:
    return {
        "apiVersion": PROVIDER.api_version,
        "kind": "Provider",
        "metadata": {"name": name},
        "spec": {
            "package": f"{stage.registry}/test/{name}:{version}",
            "runtimeConfigRef": {"name": "often"},
        },
    }


def often() -> Object:
    """Providers look for drift every two seconds."""
    container = {"name": "package-runtime", "args": ["--poll=2s"]}
    pod = {"selector": {}, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": RUNTIME_CONFIG.api_version,
        "kind": RUNTIME_CONFIG.kind,
        "metadata": {"name": "often"},
        "spec": {"deploymentTemplate": {"spec": pod}},
    }


def role(name: str, **parameters: object) -> Object:
    return {
        "apiVersion": ROLE.api_version,
        "kind": "Role",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "providerConfigRef": {"kind": "ProviderConfig", "name": "server"},
            "writeConnectionSecretToRef": {"name": f"{name}-connection"},
            "forProvider": {"login": True, **parameters},
        },
    }


def wrapped(name: str, text: str) -> Object:
    """An Object of the older version: the conversion webhook of its provider converts it."""
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": "default"},
        "data": {"text": text},
    }
    return {
        "apiVersion": OLD_OBJECT.api_version,
        "kind": "Object",
        "metadata": {"name": name},
        "spec": {
            "providerConfigRef": {"name": "here"},
            "managementPolicy": "Default",
            "forProvider": {"manifest": manifest},
        },
    }


async def are_healthy(client: Client, version: str = "v1") -> bool:
    providers = [await client.get(PROVIDER, name) for name in PROGRAMS]
    return all(condition(provider, "Healthy")[0] == "True" for provider in providers)


async def is_ready(client: Client, kind: Kind, name: str) -> bool:
    live = await client.get(kind, name, "default" if kind.namespaced else "")
    return condition(live, "Ready")[0] == "True" and condition(live, "Synced")[0] == "True"


async def data_of(client: Client, name: str) -> object:
    return (await client.get(CONFIG_MAP, name, "default") or {}).get("data")


def processes(program: str) -> list[int]:
    """The processes of a provider in its container."""
    pids = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                size = (entry / "exe").stat().st_size
            except OSError:
                continue
            if words[0] == b"/provider" and size == os.path.getsize(program):
                pids.append(int(entry.name))
    return pids


async def test_real_providers_run_as_they_are_published(stage: Stage, programs: pathlib.Path) -> None:
    async with client_of(stage.plane.data) as client:
        await client.create(RUNTIME_CONFIG, often())
        await client.create(PROVIDER, provider(stage, "provider-small", "v1"))
        await client.create(PROVIDER, provider(stage, "provider-kubernetes", "v0.17.1"))
        await until(lambda: are_healthy(client), 180)
        await configure(stage, client)

        await client.create(ROLE, role("alice", connectionLimit=3))
        await client.create(OLD_OBJECT, wrapped("note", "hello"))
        await until(lambda: is_ready(client, ROLE, "alice"))
        assert stage.role("alice") == (True, 3)
        await until(lambda: is_ready(client, OBJECT, "note"))
        assert await data_of(client, "note") == {"text": "hello"}

        await logs_in(stage, client, "alice")
        await webhooks_answer(client)
        await drift_is_repaired(stage, client)
        await survives_kill(stage, client, programs)
    await survives_a_restart(stage)
    async with client_of(stage.plane.data) as client:
        await is_upgraded(stage, client)
        await is_uninstalled(stage, client, programs)


async def configure(stage: Stage, client: Client) -> None:
    server = stage.postgres
    login = f"admin:{server.password}"
    await client.create(
        SECRET,
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "server", "namespace": "default"},
            "stringData": {"login": login},
        },
    )
    credentials = {
        "source": "Secret",
        "secretRef": {"name": "server", "namespace": "default", "key": "login"},
    }
    endpoint = f"postgres://{server.host}:{server.port}/postgres?sslmode=disable"
    await client.create(
        CONFIG,
        {
            "apiVersion": CONFIG.api_version,
            "kind": "ProviderConfig",
            "metadata": {"name": "server", "namespace": "default"},
            "spec": {"endpoint": endpoint, "credentials": credentials},
        },
    )
    await client.create(
        OBJECT_CONFIG,
        {
            "apiVersion": OBJECT_CONFIG.api_version,
            "kind": "ProviderConfig",
            "metadata": {"name": "here"},
            "spec": {"credentials": {"source": "InjectedIdentity"}},
        },
    )


async def logs_in(stage: Stage, client: Client, name: str) -> None:
    """The connection secret opens the database."""
    secret = await client.get(SECRET, f"{name}-connection", "default") or {}
    details = {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}
    with psycopg.connect(stage.dsn(details["username"], details["password"])) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (name,)


async def webhooks_answer(client: Client) -> None:
    with pytest.raises(KubeError, match="names that begin with pg- are reserved"):
        await client.create(ROLE, role("pg-reserved"))
    converted = await client.get(OBJECT, "note") or {}
    assert converted["spec"]["managementPolicies"] == ["*"], "the webhook converts policies"
    assert "managementPolicy" not in converted["spec"]


async def drift_is_repaired(stage: Stage, client: Client) -> None:
    stage.run("ALTER ROLE alice NOLOGIN CONNECTION LIMIT 9")
    eventually(lambda: stage.role("alice") == (True, 3))
    await client.delete(CONFIG_MAP, "note", "default")

    async def repaired() -> bool:
        return await data_of(client, "note") == {"text": "hello"}

    await until(repaired)


async def survives_kill(stage: Stage, client: Client, programs: pathlib.Path) -> None:
    for name, program in PROGRAMS.items():
        path = str(programs / program)
        (first,) = processes(path)
        os.kill(first, 9)
        eventually(lambda path=path, first=first: set(processes(path)) - {first})  # type: ignore[misc]
        assert name in PROGRAMS
    await until(lambda: are_healthy(client))
    await client.create(ROLE, role("bob"))
    await until(lambda: is_ready(client, ROLE, "bob"))
    assert stage.role("bob") == (True, -1)


async def survives_a_restart(stage: Stage) -> None:
    kill(stage.plane.process)
    stage.run("ALTER ROLE alice NOLOGIN")
    stage.up()
    async with client_of(stage.plane.data) as client:
        await until(lambda: are_healthy(client), 180)
        eventually(lambda: stage.role("alice") == (True, 3))


async def is_upgraded(stage: Stage, client: Client) -> None:
    before = (await client.get(PROVIDER, "provider-small") or {})["status"]["currentRevision"]
    await client.patch_merge(
        PROVIDER, "provider-small", {"spec": {"package": f"{stage.registry}/test/provider-small:v2"}}
    )

    async def is_new() -> bool:
        live = await client.get(PROVIDER, "provider-small") or {}
        return live["status"]["currentRevision"] != before and condition(live, "Healthy")[0] == "True"

    await until(is_new, 120)
    crd = await client.get(CRD, "roles.small.example.org") or {}
    assert crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] == "version v2"
    await client.create(ROLE, role("carol"))
    await until(lambda: is_ready(client, ROLE, "carol"))
    stage.run("ALTER ROLE alice NOLOGIN")
    eventually(lambda: stage.role("alice") == (True, 3))


async def is_uninstalled(stage: Stage, client: Client, programs: pathlib.Path) -> None:
    for name in ("alice", "bob", "carol"):
        await client.delete(ROLE, name, "default")
    eventually(lambda: not any(map(stage.role, ("alice", "bob", "carol"))))
    await client.delete(OBJECT, "note")

    async def all_is_gone() -> bool:
        configs = [await client.get(CONFIG, "server", "default"), await client.get(OBJECT_CONFIG, "here")]
        return not any(configs) and await data_of(client, "note") is None

    await client.delete(CONFIG, "server", "default")
    await client.delete(OBJECT_CONFIG, "here")
    await until(all_is_gone)
    for name in PROGRAMS:
        await client.delete(PROVIDER, name)
    for program in PROGRAMS.values():
        eventually(lambda program=program: not processes(str(programs / program)))  # type: ignore[misc]

    async def kinds_are_gone() -> bool:
        names = ("roles.small.example.org", "objects.kubernetes.crossplane.io")
        return not any([await client.get(CRD, name) for name in names])

    await until(kinds_are_gone)
