"""Packages that wait for a Secret are woken by it: the controllers here retry a failure only after an hour.

A wait without a watch therefore never ends within the patience of a test.
"""

from __future__ import annotations

import base64
import pathlib
from collections.abc import AsyncIterator, Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from crossply.control.package_manager.settings import PackageSettings
from crossply.kube.core_kinds import SERVICE_ACCOUNT
from crossply.xpkg.registry_session import Trust
from tests.support.e2e.in_process import scenario_with
from tests.support.e2e.packages import CONFIGURATION, HEALTHY, HOME, LOCK, Packages, condition_message
from tests.support.e2e.private_packages import (
    LOGIN,
    UNHEALTHY,
    UNPACKING,
    image_config,
    login_data,
    private_packages,
    pull_secret,
    sign,
)
from tests.support.e2e.scenario import SECRET, Scenario, condition
from tests.support.e2e.traffic import traffic
from tests.support.e2e.waits import OPTIONS, PACKAGES, packages_at_rest
from tests.support.programs import needs
from tests.support.registry import docker_registry, guarded
from tests.support.signatures import trusted

pytestmark = [needs("docker-registry"), pytest.mark.xdist_group("e2e-waits")]
ACCOUNT = "crossplane"


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory, registry_certificate: pathlib.Path) -> Iterator[str]:
    """A registry with TLS that asks for a password."""
    directory = tmp_path_factory.mktemp("private")
    with docker_registry(directory, *guarded(directory, registry_certificate, LOGIN)) as address:
        yield address


@pytest.fixture
async def s(own_server, registry_certificate: pathlib.Path) -> AsyncIterator[Scenario]:
    trust = Trust(authority=(registry_certificate / "tls.crt").read_bytes())
    settings = PackageSettings(trust=trust, service_account=ACCOUNT)
    async with scenario_with(own_server, OPTIONS._replace(packages=settings)) as scenario:
        yield scenario


@pytest.fixture
async def packages(s: Scenario, private: str, registry_certificate: pathlib.Path) -> Packages:
    """Packages in the private registry."""
    packages = private_packages(s, private, registry_certificate)
    await packages.push("platform:v1", "Configuration")
    return packages


async def waiting(s: Scenario, packages: Packages, **spec: object) -> str:
    """A package that is installed and cannot be fetched."""
    name = await packages.install(CONFIGURATION, "platform:v1", **spec)
    refused = await s.until(CONFIGURATION, name, UNPACKING)
    assert "UNAUTHORIZED" in condition_message(refused, "Installed")
    await packages_at_rest(s)
    return name


async def installed(s: Scenario, packages: Packages, name: str) -> None:
    await s.until(CONFIGURATION, name, HEALTHY)
    await packages.remove(CONFIGURATION, name)


async def test_a_pull_secret_that_appears_is_used_at_once(s: Scenario, packages: Packages):
    name = await waiting(s, packages, packagePullSecrets=[{"name": s.id}])
    await pull_secret(s, packages.address)
    await installed(s, packages, name)


async def test_a_pull_secret_that_is_corrected_is_used_at_once(s: Scenario, packages: Packages):
    await s.client.create(SECRET, {"metadata": {"name": s.id, "namespace": HOME}, "data": {}})
    name = await packages.install(CONFIGURATION, "platform:v1", packagePullSecrets=[{"name": s.id}])
    await s.until(CONFIGURATION, name, UNPACKING)
    await packages_at_rest(s)
    data = {".dockerconfigjson": login_data(packages.address)}
    await s.client.patch_merge(SECRET, s.id, {"data": data}, HOME)
    await installed(s, packages, name)


async def test_the_pull_secret_of_an_image_config_that_appears_is_used_at_once(
    s: Scenario, packages: Packages
):
    login = {"authentication": {"pullSecretRef": {"name": s.id}}}
    await image_config(s, packages.source(""), registry=login)
    name = await waiting(s, packages)
    await pull_secret(s, packages.address)
    await installed(s, packages, name)


async def test_the_pull_secret_of_the_service_account_that_appears_is_used_at_once(
    s: Scenario, packages: Packages
):
    account = {"metadata": {"name": ACCOUNT, "namespace": HOME}}
    await s.client.apply(
        SERVICE_ACCOUNT,
        {"apiVersion": "v1", "kind": "ServiceAccount", **account, "imagePullSecrets": [{"name": s.id}]},
        "test",
    )
    name = await waiting(s, packages)
    await pull_secret(s, packages.address)
    await installed(s, packages, name)
    await s.client.delete(SERVICE_ACCOUNT, ACCOUNT, HOME)


async def test_a_service_account_that_gets_a_pull_secret_has_packages_fetched_at_once(
    s: Scenario, packages: Packages
):
    await pull_secret(s, packages.address)
    name = await waiting(s, packages)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": HOME}}
    await s.client.apply(SERVICE_ACCOUNT, {**account, "imagePullSecrets": [{"name": s.id}]}, "test")
    await installed(s, packages, name)
    await s.client.delete(SERVICE_ACCOUNT, ACCOUNT, HOME)


async def test_a_signature_key_that_appears_is_used_at_once(s: Scenario, registry: str):
    packages, key = Packages(s, registry), ec.generate_private_key(ec.SECP256R1())
    await verified_by_secret(s, packages)
    await sign(packages, await packages.push("platform:v1", "Configuration"), key)
    name = await packages.install(CONFIGURATION, "platform:v1")
    refused = await packages.revision(CONFIGURATION, name, UNHEALTHY)
    assert 'there is no key "cosign.pub"' in condition_message(refused, "RevisionHealthy")
    await packages_at_rest(s)
    public = base64.b64encode(trusted(key).key).decode()
    await s.client.create(
        SECRET, {"metadata": {"name": s.id, "namespace": HOME}, "data": {"cosign.pub": public}}
    )
    await installed(s, packages, name)


async def verified_by_secret(s: Scenario, packages: Packages) -> None:
    authority = {"name": "us", "key": {"secretRef": {"name": s.id, "key": "cosign.pub"}}}
    cosign = {"provider": "Cosign", "cosign": {"authorities": [authority]}}
    await image_config(s, packages.source(""), verification=cosign)


async def test_a_dependency_is_installed_once_its_pull_secret_appears(
    s: Scenario, packages: Packages, registry: str
):
    """Nobody names a pull secret for a dependency but an ImageConfig."""
    login = {"authentication": {"pullSecretRef": {"name": s.id}}}
    await image_config(s, packages.source(""), registry=login)
    dependency = {"configuration": packages.source("platform"), "version": ">=v1.0.0"}
    await packages.push("platform:v1.0.0", "Configuration")
    dependents = Packages(s, registry)
    await dependents.push("app:v1", "Configuration", dependsOn=[dependency])
    name = await dependents.install(CONFIGURATION, "app:v1")
    await s.until(LOCK, "lock", condition("Resolved", "False", "DependencyResolutionFailed"))
    await packages_at_rest(s)
    await pull_secret(s, packages.address)
    await installed(s, dependents, name)


async def test_a_secret_that_no_package_names_wakes_nothing(s: Scenario, packages: Packages):
    name = await waiting(s, packages, packagePullSecrets=[{"name": s.id}])
    before = await traffic(s.client)
    other = {"metadata": {"name": f"{s.id}-other", "namespace": HOME}, "data": {}}
    await s.client.create(SECRET, other)
    await packages_at_rest(s)
    requests = await traffic(s.client) - before
    assert not [key for key in requests if key[1] == PACKAGES], requests
    await packages.remove(CONFIGURATION, name)
