"""Dependencies of packages are installed, or the reason is reported."""

from __future__ import annotations

import pytest

from crossply.control.kinds import MANAGED_DEFINITION
from tests.support.e2e.packages import (
    CONFIGURATION,
    FUNCTION,
    HEALTHY,
    IMAGE_CONFIG,
    LOCK,
    PROVIDER,
    Packages,
    condition_message,
    crd,
    crossply,
)
from tests.support.e2e.scenario import CRD, Scenario, condition
from tests.support.programs import needs
from tests.support.registry import ScriptedRegistry

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("packages"),
]
REVISION_HEALTHY = condition("RevisionHealthy", "True", "HealthyPackageRevision")


def needs(packages: Packages, *dependencies: tuple[str, str, str]) -> list[dict]:
    """What a package depends on: kinds, names and constraints."""
    return [
        {
            "apiVersion": "pkg.crossplane.io/v1",
            "kind": kind,
            "package": packages.source(name),
            "version": version,
        }
        for kind, name, version in dependencies
    ]


def counts(revision: dict) -> tuple[int, int, int]:
    status = revision["status"]
    return (
        status.get("foundDependencies", 0),
        status.get("installedDependencies", 0),
        status.get("invalidDependencies", 0),
    )


def owners(obj: dict) -> dict[str, bool]:
    """The names of an object's owners, and whether each is its controller."""
    references = obj["metadata"]["ownerReferences"]
    return {reference["name"]: bool(reference.get("controller")) for reference in references}


async def test_the_dependencies_of_a_configuration_are_installed(s: Scenario, registry, tmp_path):
    """A Function and a Provider, in the highest versions that are wanted, and what the Provider wants."""

    packages = Packages(s, registry)
    for tag in ("v1", "v1.2.0", "v1.10.0", "v2.0.0", "latest"):
        await packages.push(f"function-dep:{tag}", "Function", metadata={"annotations": {"tag": tag}})
    base = needs(packages, ("Configuration", "base", "*"))
    await packages.push("provider-dep:v0.3.0", "Provider", crd(f"cloud.{s.group}"), dependsOn=base)
    await packages.push("base:v0.1.0", "Configuration")
    depends = needs(
        packages, ("Function", "function-dep", "^v1.0.0"), ("Provider", "provider-dep", ">=v0.1.0")
    )
    await packages.push("platform:v1", "Configuration", dependsOn=depends)
    name = await packages.install(CONFIGURATION, "platform:v1")
    await s.until(CONFIGURATION, name, HEALTHY)
    assert counts(await packages.revision(CONFIGURATION, name)) == (3, 3, 0)
    function = await s.client.get(FUNCTION, packages.installed_as("function-dep"))
    assert function["spec"]["package"] == f"{packages.source('function-dep')}:v1.10.0"
    assert "ownerReferences" not in function["metadata"]
    await s.until(CRD, f"buckets.cloud.{s.group}", condition("Established", "True"))
    provider = await packages.revision(PROVIDER, packages.installed_as("provider-dep"), REVISION_HEALTHY)
    revision_name = provider["metadata"]["name"]
    definition = await s.client.get(MANAGED_DEFINITION, f"buckets.cloud.{s.group}")
    assert owners(definition) == {revision_name: True, packages.installed_as("provider-dep"): False}
    crd_owners = owners(await s.client.get(CRD, f"buckets.cloud.{s.group}"))
    assert crd_owners == {revision_name: True, definition["metadata"]["name"]: False}
    assert {key: entry["version"] for key, entry in (await packages.locked()).items()} == {
        "platform": "v1",
        "function-dep": "v1.10.0",
        "provider-dep": "v0.3.0",
        "base": "v0.1.0",
    }
    lock = await s.client.get(LOCK, "lock")
    assert "lock.pkg.crossplane.io" in lock["metadata"]["finalizers"]

    tree = await crossply(s, "trace", "configuration", name, directory=tmp_path)
    order = [line for line in tree.splitlines() if s.id in line]
    assert len(order) == 8, tree
    why = await crossply(s, "xpkg", "why", packages.source("base"), directory=tmp_path)
    assert why.splitlines()[1].startswith("└─ * required by ")
    assert why.splitlines()[2].startswith("   └─ >=v0.1.0 required by ")

    for kind, repository in (
        (CONFIGURATION, "platform"),
        (FUNCTION, "function-dep"),
        (PROVIDER, "provider-dep"),
        (CONFIGURATION, "base"),
    ):
        await packages.remove(kind, packages.installed_as(repository))
    await s.until_gone(CRD, f"buckets.cloud.{s.group}")


async def test_conflicting_constraints_are_reported_with_their_packages(s: Scenario, registry):
    packages = Packages(s, registry)
    for tag in ("v1.0.0", "v2.0.0"):
        await packages.push(f"function-dep:{tag}", "Function")
    for name, version in (("one", "<v2.0.0"), ("other", ">=v2.0.0")):
        depends = needs(packages, ("Function", "function-dep", version))
        await packages.push(f"{name}:v1.0.0", "Configuration", dependsOn=depends)
    first_name = await packages.install(CONFIGURATION, "one:v1.0.0")
    await s.until(CONFIGURATION, first_name, HEALTHY)
    other = await packages.install(CONFIGURATION, "other:v1.0.0")
    refused = await packages.revision(
        CONFIGURATION, other, lambda obj: "incompatible" in condition_message(obj, "RevisionHealthy")
    )
    source = packages.source("function-dep")
    assert condition_message(refused, "RevisionHealthy").splitlines() == [
        "cannot resolve package dependencies: incompatible dependencies: existing package "
        f"{source}@v1.0.0 is incompatible with constraint >=v2.0.0",
        f"{source}@v1.0.0",
        f"├─ <v2.0.0 required by {packages.source('one')}@v1.0.0",
        f"└─ >=v2.0.0 required by {packages.source('other')}@v1.0.0  ✗ v1.0.0 is not",
    ]
    assert counts(refused) == (1, 1, 1)
    assert not condition("Healthy", "True")(await s.client.get(CONFIGURATION, other))
    assert condition("Healthy", "True")(await s.client.get(CONFIGURATION, first_name)), (
        "who was first is well"
    )
    for kind, name in ((CONFIGURATION, first_name), (CONFIGURATION, other)):
        await packages.remove(kind, name)
    await packages.remove(FUNCTION, packages.installed_as("function-dep"))


async def test_packages_that_depend_on_one_another_in_a_cycle_converge(s: Scenario, registry):
    """The Lock reports it, and nothing more is installed until the cycle is broken."""

    async def skip_dependencies(configuration: str) -> None:
        await s.client.patch_merge(CONFIGURATION, configuration, {"spec": {"skipDependencyResolution": True}})

    async def is_left(package: str) -> bool:
        return package not in await packages.locked()

    packages = Packages(s, registry)
    await packages.push("a:v1.0.0", "Configuration", dependsOn=needs(packages, ("Configuration", "b", "*")))
    depends = needs(packages, ("Configuration", "a", "*"), ("Configuration", "c", "*"))
    await packages.push("b:v1.0.0", "Configuration", dependsOn=depends)
    await packages.push("c:v1.0.0", "Configuration")
    name = await packages.install(CONFIGURATION, "a:v1.0.0")
    lock = await s.eventually(lambda: locked_with(s, "cannot sort DAG: detected cycle on: "))
    assert f"{packages.source('a')} → {packages.source('b')} → {packages.source('a')}" in condition_message(
        lock, "Resolved"
    )
    assert await s.client.get(CONFIGURATION, packages.installed_as("c")) is None
    # The one that needs a third package leaves first: without a cycle, that would be installed.
    await skip_dependencies(packages.installed_as("b"))
    await s.eventually(lambda: is_left("b"))
    await skip_dependencies(name)
    await s.eventually(packages.is_unlocked)
    for configuration in (name, packages.installed_as("b")):
        await packages.remove(CONFIGURATION, configuration)


async def locked_with(s: Scenario, words: str) -> dict | None:
    """The Lock, if its condition has this message."""
    lock = await s.client.get(LOCK, "lock")
    return lock if words in condition_message(lock or {}, "Resolved") else None


async def test_a_dependency_without_a_matching_version_is_reported_and_the_others_are_installed(
    s: Scenario, registry
):
    packages = Packages(s, registry)
    await packages.push("function-dep:v1.0.0", "Function")
    await packages.push("base:v1.0.0", "Configuration")
    depends = needs(packages, ("Function", "function-dep", ">=v3.0.0"), ("Configuration", "base", "*"))
    await packages.push("platform:v1.0.0", "Configuration", dependsOn=depends)
    name = await packages.install(CONFIGURATION, "platform:v1.0.0")
    lock = await s.eventually(lambda: locked_with(s, packages.source("function-dep")))
    message = condition_message(lock, "Resolved").splitlines()[0]
    assert message.startswith(
        f"dependency ({packages.source('function-dep')}) does not have a valid version to "
    )
    assert message.endswith("Constraints: [>=v3.0.0]")
    await s.until(CONFIGURATION, packages.installed_as("base"), HEALTHY)
    waiting = await packages.revision(CONFIGURATION, name, lambda obj: counts(obj) == (2, 1, 0))
    expected = f'missing dependencies: "{packages.source("function-dep")}" (>=v3.0.0)'
    assert condition_message(waiting, "RevisionHealthy") == f"cannot resolve package dependencies: {expected}"
    await packages.push("function-dep:v3.1.0", "Function")
    await s.until(CONFIGURATION, name, HEALTHY)
    for kind, repository in (
        (CONFIGURATION, "platform"),
        (CONFIGURATION, "base"),
        (FUNCTION, "function-dep"),
    ):
        await packages.remove(kind, packages.installed_as(repository))


async def test_a_package_cannot_name_a_private_registry_that_no_user_named(s: Scenario, registry):
    packages = Packages(s, registry)
    async with ScriptedRegistry().running() as private:
        private.serve("/v2/acme/inner/tags/list", b'{"tags": ["v1.0.0"]}')
        source = f"{private.address}/acme/inner"
        dependency = {"apiVersion": "pkg.crossplane.io/v1", "kind": "Function", "package": source}
        await packages.push("platform:v1.0.0", "Configuration", dependsOn=[{**dependency, "version": "*"}])
        name = await packages.install(CONFIGURATION, "platform:v1.0.0")
        lock = await s.eventually(lambda: locked_with(s, source))
        assert condition_message(lock, "Resolved") == (
            f"dependency package {source} is inside of a private network, and no user named its registry"
        )
        assert private.requests == []
        config = {
            "apiVersion": IMAGE_CONFIG.api_version,
            "kind": IMAGE_CONFIG.kind,
            "metadata": {"name": s.id},
            "spec": {
                "matchImages": [{"prefix": f"{private.address}/acme"}],
                "registry": {"authentication": {"pullSecretRef": {"name": "none"}}},
            },
        }
        await s.client.create(IMAGE_CONFIG, config)
        await s.until(FUNCTION, "acme-inner", bool)
        assert private.requests
        await packages.remove(CONFIGURATION, name)
        await packages.remove(FUNCTION, "acme-inner")
        await s.client.delete(IMAGE_CONFIG, s.id)


async def test_a_dependency_on_a_function_that_is_built_in_needs_no_registry(s: Scenario, registry):
    packages = Packages(s, registry)
    nowhere = Packages(s, "registry.example")
    depends = needs(nowhere, ("Function", "crossplane-contrib/function-go-templating", ">=v0.9.2"))
    await packages.push("platform:v1.0.0", "Configuration", dependsOn=depends)
    name = await packages.install(CONFIGURATION, "platform:v1.0.0")
    await s.until(CONFIGURATION, name, HEALTHY)
    installed = packages.installed_as("crossplane-contrib-function-go-templating")
    function = await s.until(FUNCTION, installed, HEALTHY)
    assert function["spec"]["package"].endswith("/function-go-templating:v0.9.2")
    await packages.remove(CONFIGURATION, name)
    await packages.remove(FUNCTION, installed)
