"""Packages from a real registry: installed, used, upgraded and rolled back; what they depend on."""

from __future__ import annotations

import asyncio
import pathlib
from collections.abc import Callable

import pytest

from crossply.kube.failures import Invalid
from crossply.values import Object, yaml
from tests.support.e2e.packages import (
    CONFIGURATION,
    FUNCTION,
    HEALTHY,
    PROVIDER,
    REVISIONS,
    Packages,
    composition,
    condition_message,
    crossply,
    definition,
)
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.scenario import COMPOSITION, CONFIG_MAP, DEFINITION, Scenario, condition
from tests.support.e2e.traffic import request_counts
from tests.support.programs import needs

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("packages"),
]
READY = condition("Ready", "True")
REVISION_HEALTHY = condition("RevisionHealthy", "True", "HealthyPackageRevision")


def marked(s: Scenario, mark: str) -> dict:
    """A Composition of one ConfigMap with a mark in it."""
    base = {"metadata": {"name": s.id, "namespace": s.id}, "data": {"mark": mark}}
    return composition(s, resources(entry(base=base)))


def written(directory: pathlib.Path, *objects: dict) -> str:
    """The directory of a package with these objects."""
    directory.mkdir()
    for number, obj in enumerate(objects):
        name = "crossplane" if not number else f"object-{number}"
        (directory / f"{name}.yaml").write_text(yaml.dump(obj))
    return str(directory)


def has_mark(mark: str):
    return lambda obj: obj["data"].get("mark") == mark


async def test_a_configuration_is_built_pushed_installed_used_upgraded_and_rolled_back(
    s: Scenario, registry, tmp_path
):
    packages = Packages(s, registry)
    meta = {
        "apiVersion": "meta.pkg.crossplane.io/v1",
        "kind": "Configuration",
        "metadata": {"name": "platform", "annotations": {"meta.crossplane.io/maintainer": "us"}},
        "spec": {"crossplane": {"version": ">=v1.14.0"}},
    }
    for version in ("v1.0.0", "v1.1.0"):
        root = written(tmp_path / version, meta, definition(s), marked(s, version))
        file = str(tmp_path / f"{version}.xpkg")
        await crossply(s, "xpkg", "build", "-f", root, "-o", file, directory=tmp_path)
        target = f"{packages.source('platform')}:{version}"
        await crossply(s, "xpkg", "push", "-f", file, target, directory=tmp_path)

    source, name = packages.source("platform"), packages.installed_as("platform")
    words = ("xpkg", "install", "configuration", f"{source}:v1.0.0", "--wait=60s")
    out = await crossply(s, *words, "--revision-history-limit=2", directory=tmp_path)
    assert out == f"configuration/{name} created\n"
    first = await packages.revision(CONFIGURATION, name, REVISION_HEALTHY)
    kinds = [reference["kind"] for reference in first["status"]["objectRefs"]]
    assert kinds == ["Composition", "CompositeResourceDefinition"], "the last in the alphabet first"
    assert first["metadata"]["annotations"]["meta.crossplane.io/maintainer"] == "us"
    await s.until(DEFINITION, s.xrs.resource, condition("Established", "True"))
    xr = {"apiVersion": s.api_version, "kind": s.xrs.kind, "metadata": {"name": s.id}, "spec": {}}
    await s.client.apply(s.xrs, xr, "test")
    await s.until(s.xrs, s.id, READY)
    await s.until(CONFIG_MAP, s.id, has_mark("v1.0.0"))

    update = ("xpkg", "update", "configuration", "--wait=60s")
    await crossply(s, *update, f"{source}:v1.1.0", directory=tmp_path)
    await s.until(CONFIG_MAP, s.id, has_mark("v1.1.0"))
    new, old = await packages.revisions(CONFIGURATION, name)
    assert (new["spec"]["revision"], new["spec"]["desiredState"]) == (2, "Active")
    assert (old["spec"]["revision"], old["spec"]["desiredState"]) == (1, "Inactive")

    await crossply(s, *update, f"{source}:v1.0.0", directory=tmp_path)
    await s.until(CONFIG_MAP, s.id, has_mark("v1.0.0"))
    reactivated, other = await packages.revisions(CONFIGURATION, name)
    assert reactivated["metadata"]["name"] == first["metadata"]["name"]
    assert (reactivated["spec"]["revision"], other["spec"]["desiredState"]) == (3, "Inactive")

    await packages.remove(CONFIGURATION, name)
    await s.until_gone(COMPOSITION, s.id)
    assert not await packages.locked()


async def test_a_label_of_a_package_does_not_replace_that_of_its_user(s: Scenario, registry):
    """Both would overwrite each other endlessly."""

    async def scenario(s: Scenario) -> None:
        packages = Packages(s, registry)
        metadata = {
            "labels": {"team": "of-the-package", "extra": "x"},
            "annotations": {"team": "of-the-package"},
        }
        await packages.push("platform:v1.0.0", "Configuration", marked(s, "v1"), metadata=metadata)
        name = await packages.install(CONFIGURATION, "platform:v1.0.0")
        await packages.revision(CONFIGURATION, name, labelled("of-the-package"))
        await s.client.patch_merge(CONFIGURATION, name, {"metadata": {"labels": {"team": "users"}}})
        revision = await packages.revision(CONFIGURATION, name, labelled("users"))
        assert revision["metadata"]["labels"]["extra"] == "x"
        # Have both controllers look again.
        for key in ("one", "two"):
            await s.client.patch_merge(CONFIGURATION, name, {"metadata": {"labels": {key: key}}})
            await packages.revision(
                CONFIGURATION, name, lambda obj, key=key: key in obj["metadata"]["labels"]
            )
        revision = await packages.revision(CONFIGURATION, name, REVISION_HEALTHY)
        versions = {revision["metadata"]["resourceVersion"]}
        for _ in range(20):
            await asyncio.sleep(0.05)
            live = await s.client.get(REVISIONS[CONFIGURATION.kind], revision["metadata"]["name"])
            versions.add(live["metadata"]["resourceVersion"])
        assert len(versions) <= 3, "the revision settles"
        assert live["metadata"]["labels"]["team"] == "users"
        await packages.remove(CONFIGURATION, name)

    def labelled(team: str) -> Callable[[Object], bool]:
        return lambda revision: revision["metadata"]["labels"].get("team") == team

    await scenario(s)


async def test_deleted_objects_of_a_package_are_restored_and_then_nothing_is_written(s: Scenario, registry):
    packages = Packages(s, registry)
    await packages.push("platform:v1.0.0", "Configuration", definition(s), marked(s, "v1"))
    name = await packages.install(CONFIGURATION, "platform:v1.0.0", commonLabels={"from": "platform"})
    await s.until(CONFIGURATION, name, HEALTHY)
    await s.until(DEFINITION, s.xrs.resource, condition("Established", "True"))
    await s.client.delete(COMPOSITION, s.id)
    change = {"spec": {"connectionSecretKeys": ["mine"], "group": s.group}}
    await s.client.patch_merge(DEFINITION, s.xrs.resource, change)
    restored = await s.until(COMPOSITION, s.id, bool)
    assert restored["metadata"]["labels"] == {"from": "platform"}
    xrd = await s.client.get(DEFINITION, s.xrs.resource)
    assert xrd["spec"]["connectionSecretKeys"] == ["mine"], "what the package does not say is the user's"

    revision = await packages.revision(CONFIGURATION, name)
    await asyncio.sleep(1)
    before = await package_writes(s)
    kind = REVISIONS[CONFIGURATION.kind]
    await s.client.patch_merge(kind, revision["metadata"]["name"], {"metadata": {"labels": {"a": "b"}}})
    await asyncio.sleep(1)
    assert await package_writes(s) == before + 1, "only ours: a look that changes nothing writes nothing"
    await packages.remove(CONFIGURATION, name)
    await s.until_gone(DEFINITION, s.xrs.resource)


async def package_writes(s: Scenario) -> int:
    """How many requests wrote packages, their revisions, the Lock or what they bring, by anybody."""
    groups = ("pkg.crossplane.io", "apiextensions.crossplane.io")
    return sum(
        count
        for labels, count in await request_counts(s.client)
        if labels["group"] in groups and labels["verb"] not in ("GET", "LIST", "WATCH")
    )


async def test_an_object_of_another_package_is_not_adopted(s: Scenario, registry):
    """Nothing of the package is installed then: everything is tried first."""

    packages = Packages(s, registry)
    await packages.push("first:v1.0.0", "Configuration", definition(s))
    await packages.push("second:v1.0.0", "Configuration", definition(s), marked(s, "v1"))
    first = await packages.install(CONFIGURATION, "first:v1.0.0")
    await s.until(CONFIGURATION, first, HEALTHY)
    second = await packages.install(CONFIGURATION, "second:v1.0.0")
    refused = await packages.revision(CONFIGURATION, second, condition("RevisionHealthy", "False"))
    message = condition_message(refused, "RevisionHealthy")
    prefix = f"cannot establish control of object: {s.xrs.resource} is already controlled by "
    assert message.startswith(f"{prefix}ConfigurationRevision {first}-")
    assert await s.client.get(COMPOSITION, s.id) is None
    for name in (second, first):
        await packages.remove(CONFIGURATION, name)


async def test_a_definition_that_is_deleted_with_its_package_is_reported_as_such(s: Scenario, registry):
    """Another package that brings it can be installed when its composite resources are gone."""

    packages = Packages(s, registry)
    await packages.push("first:v1.0.0", "Configuration", definition(s))
    await packages.push("second:v1.0.0", "Configuration", definition(s))
    first = await packages.install(CONFIGURATION, "first:v1.0.0")
    await s.until(CONFIGURATION, first, HEALTHY)
    await s.until(DEFINITION, s.xrs.resource, condition("Established", "True"))
    metadata = {"name": s.id, "finalizers": ["example.org/held"]}
    xr = {"apiVersion": s.xrs.api_version, "kind": s.xrs.kind, "metadata": metadata, "spec": {}}
    await s.client.apply(s.xrs, xr, "test")
    await s.client.delete(CONFIGURATION, first)
    await s.until(DEFINITION, s.xrs.resource, condition("Established", "False"))
    second = await packages.install(CONFIGURATION, "second:v1.0.0")

    def is_refused(revision):
        return condition_message(revision, "RevisionHealthy").endswith(" no longer exists")

    message = condition_message(await packages.revision(CONFIGURATION, second, is_refused), "RevisionHealthy")
    assert "and is being deleted and waits for its finalizers: defined.apiextensions.crossplane.io" in message
    await s.client.patch_merge(s.xrs, s.id, {"metadata": {"finalizers": None}}, "", "test")
    await s.until(CONFIGURATION, second, HEALTHY)
    await packages.remove(CONFIGURATION, second)


@pytest.mark.parametrize("kind", [CONFIGURATION, FUNCTION, PROVIDER], ids=lambda kind: kind.kind)
async def test_a_registry_needs_no_dot_in_its_name_where_it_is_local_or_has_a_port(s: Scenario, kind):
    async def scenario(s: Scenario) -> None:
        for registry_name in ("localhost:5000", "[::1]:5000", "registry:5000", "localhost"):
            await accepted(s, registry_name)
        with pytest.raises(Invalid, match="must be a fully qualified image name"):
            await accepted(s, "registry")

    async def accepted(s: Scenario, registry_name: str) -> None:
        spec = {"package": f"{registry_name}/{s.id}/nothing:v1.0.0", "packagePullPolicy": "Never"}
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": s.id}, "spec": spec}
        await s.client.apply(kind, body, "test")
        await s.client.delete(kind, s.id)
        await s.until_gone(kind, s.id)

    await scenario(s)


async def test_packages_and_their_dependencies_are_installed_from_localhost(s: Scenario, registry):
    packages = Packages(s, f"localhost:{registry.rpartition(':')[2]}")
    await packages.push("base:v1.2.0", "Configuration", definition(s))
    dependency = {"apiVersion": "pkg.crossplane.io/v1", "kind": "Configuration", "version": ">=v1.0.0"}
    depends = [{**dependency, "package": packages.source("base")}]
    await packages.push("platform:v1.0.0", "Configuration", marked(s, "v1"), dependsOn=depends)
    name = await packages.install(CONFIGURATION, "platform:v1.0.0")
    await s.until(CONFIGURATION, name, HEALTHY)
    await s.until(CONFIGURATION, packages.installed_as("base"), HEALTHY)
    locked = await packages.locked()
    assert (locked["base"]["source"], locked["base"]["version"]) == (packages.source("base"), "v1.2.0")
    for installed in (name, packages.installed_as("base")):
        await packages.remove(CONFIGURATION, installed)


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        (
            "Configuration",
            {"crossplane": {"version": ">=v9.0.0"}},
            "incompatible Crossplane version: package is not compatible with Crossplane version (v2.3.0)",
        ),
        ("Function", {}, "validating package contents failed: package meta type is not Configuration"),
    ],
)
async def test_a_package_that_does_not_fit_reports_it(s: Scenario, registry, kind, spec, message):
    packages = Packages(s, registry)
    await packages.push("platform:v1.0.0", kind, **spec)
    name = await packages.install(CONFIGURATION, "platform:v1.0.0")
    refused = await packages.revision(CONFIGURATION, name, condition("RevisionHealthy", "False"))
    assert condition_message(refused, "RevisionHealthy") == message
    if spec:
        await s.client.patch_merge(CONFIGURATION, name, {"spec": {"ignoreCrossplaneConstraints": True}})
        await s.until(CONFIGURATION, name, HEALTHY)
    await packages.remove(CONFIGURATION, name)


async def test_a_revision_that_is_paused_is_left_alone(s: Scenario, registry):
    """Also when it is deleted; without the annotation it goes on where it was."""

    packages = Packages(s, registry)
    await packages.push("platform:v1.0.0", "Configuration", definition(s))
    name = await packages.install(CONFIGURATION, "platform:v1.0.0")
    await s.until(CONFIGURATION, name, HEALTHY)
    revision = (await packages.revision(CONFIGURATION, name))["metadata"]["name"]
    kind = REVISIONS[CONFIGURATION.kind]
    paused = {"metadata": {"annotations": {"crossplane.io/paused": "true"}}}
    await s.client.patch_merge(kind, revision, paused)
    await s.until(kind, revision, condition("Synced", "False", "ReconcilePaused"))
    await s.client.delete(CONFIGURATION, name)
    await s.until(kind, revision, lambda obj: obj["metadata"].get("deletionTimestamp"))
    assert "platform" in await packages.locked(), "it has not left the Lock"
    paused["metadata"]["annotations"]["crossplane.io/paused"] = None
    await s.client.patch_merge(kind, revision, paused)
    await s.until_gone(kind, revision)
    assert await packages.is_unlocked()
