"""Packages from a real registry: installed, used, upgraded and rolled back; what they depend on."""

from __future__ import annotations

import asyncio
import pathlib
from collections.abc import Iterator

import pytest

from crossply.kube.kind import Kind
from crossply.values import yaml
from tests.deploy.installing import CLUSTER_ROLE
from tests.e2e.packaging import (
    CONFIGURATION,
    FUNCTION,
    HEALTHY,
    LOCK,
    PROVIDER,
    REVISIONS,
    Shelf,
    composition,
    crd,
    crossply,
    definition,
    said,
)
from tests.e2e.pipelines import entry, resources
from tests.e2e.scenario import COMPOSITION, CONFIG_MAP, CRD, DEFINITION, Scenario, condition
from tests.packages.peers import PROGRAM, docker_registry

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="docker-registry is not installed"),
    pytest.mark.xdist_group("e2e"),
]
READY = condition("Ready", "True")
REVISION_HEALTHY = condition("RevisionHealthy", "True", "HealthyPackageRevision")


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


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
    return lambda found: found["data"].get("mark") == mark


def test_a_configuration_is_built_pushed_installed_used_upgraded_and_rolled_back(play, registry, tmp_path):
    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
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
            target = f"{shelf.source('platform')}:{version}"
            await crossply(s, "xpkg", "push", "-f", file, target, directory=tmp_path)

        source, name = shelf.source("platform"), shelf.installed_as("platform")
        words = ("xpkg", "install", "configuration", f"{source}:v1.0.0", "--wait=60s")
        out = await crossply(s, *words, "--revision-history-limit=2", directory=tmp_path)
        assert out == f"configuration/{name} created\n"
        first = await shelf.revision(CONFIGURATION, name, REVISION_HEALTHY)
        brought = [each["kind"] for each in first["status"]["objectRefs"]]
        assert brought == ["Composition", "CompositeResourceDefinition"], "the last in the alphabet first"
        assert first["metadata"]["annotations"]["meta.crossplane.io/maintainer"] == "us"
        await s.until(DEFINITION, s.xrs.resource, condition("Established", "True"))
        xr = {"apiVersion": s.api_version, "kind": s.xrs.kind, "metadata": {"name": s.id}, "spec": {}}
        await s.client.apply(s.xrs, xr, "test")
        await s.until(s.xrs, s.id, READY)
        await s.until(CONFIG_MAP, s.id, has_mark("v1.0.0"))

        update = ("xpkg", "update", "configuration", "--wait=60s")
        await crossply(s, *update, f"{source}:v1.1.0", directory=tmp_path)
        await s.until(CONFIG_MAP, s.id, has_mark("v1.1.0"))
        new, old = await shelf.revisions(CONFIGURATION, name)
        assert (new["spec"]["revision"], new["spec"]["desiredState"]) == (2, "Active")
        assert (old["spec"]["revision"], old["spec"]["desiredState"]) == (1, "Inactive")

        await crossply(s, *update, f"{source}:v1.0.0", directory=tmp_path)
        await s.until(CONFIG_MAP, s.id, has_mark("v1.0.0"))
        again, other = await shelf.revisions(CONFIGURATION, name)
        assert again["metadata"]["name"] == first["metadata"]["name"]
        assert (again["spec"]["revision"], other["spec"]["desiredState"]) == (3, "Inactive")

        await shelf.remove(CONFIGURATION, name)
        await s.until_gone(COMPOSITION, s.id)
        assert not await shelf.locked()

    play(scenario)


def needs(shelf: Shelf, *wanted: tuple[str, str, str]) -> list[dict]:
    """What a package depends on: kinds, names and constraints."""
    return [
        {
            "apiVersion": "pkg.crossplane.io/v1",
            "kind": kind,
            "package": shelf.source(name),
            "version": version,
        }
        for kind, name, version in wanted
    ]


def counts(revision: dict) -> tuple[int, int, int]:
    status = revision["status"]
    return (
        status["foundDependencies"],
        status["installedDependencies"],
        status.get("invalidDependencies", 0),
    )


def test_what_a_configuration_depends_on_is_installed(play, registry, tmp_path):
    """A Function and a Provider, in the highest versions that are wanted, and what the Provider wants."""

    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
        for tag in ("v1", "v1.2.0", "v1.10.0", "v2.0.0", "latest"):
            await shelf.push(f"function-dep:{tag}", "Function", metadata={"annotations": {"tag": tag}})
        base = needs(shelf, ("Configuration", "base", "*"))
        await shelf.push("provider-dep:v0.3.0", "Provider", crd(f"cloud.{s.group}"), dependsOn=base)
        await shelf.push("base:v0.1.0", "Configuration")
        wanted = needs(
            shelf, ("Function", "function-dep", "^v1.0.0"), ("Provider", "provider-dep", ">=v0.1.0")
        )
        await shelf.push("platform:v1", "Configuration", dependsOn=wanted)
        name = await shelf.install(CONFIGURATION, "platform:v1")
        await s.until(CONFIGURATION, name, HEALTHY)
        assert counts(await shelf.revision(CONFIGURATION, name)) == (3, 3, 0)
        function = await s.client.get(FUNCTION, shelf.installed_as("function-dep"))
        assert function["spec"]["package"] == f"{shelf.source('function-dep')}:v1.10.0"
        assert "ownerReferences" not in function["metadata"]
        await s.until(CRD, f"buckets.cloud.{s.group}", condition("Established", "True"))
        provider = await shelf.revision(PROVIDER, shelf.installed_as("provider-dep"), REVISION_HEALTHY)
        [owner, keeper] = (await s.client.get(CRD, f"buckets.cloud.{s.group}"))["metadata"]["ownerReferences"]
        assert {owner["name"]: owner["controller"], keeper["name"]: keeper["controller"]} == {
            provider["metadata"]["name"]: True,
            shelf.installed_as("provider-dep"): False,
        }
        assert {key: entry["version"] for key, entry in (await shelf.locked()).items()} == {
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
        why = await crossply(s, "xpkg", "why", shelf.source("base"), directory=tmp_path)
        assert why.splitlines()[1].startswith("└─ * wanted by ")
        assert why.splitlines()[2].startswith("   └─ >=v0.1.0 wanted by ")

        for kind, each in (
            (CONFIGURATION, "platform"),
            (FUNCTION, "function-dep"),
            (PROVIDER, "provider-dep"),
            (CONFIGURATION, "base"),
        ):
            await shelf.remove(kind, shelf.installed_as(each))
        await s.until_gone(CRD, f"buckets.cloud.{s.group}")

    play(scenario)


def test_wishes_that_exclude_each_other_are_told_with_who_has_them(play, registry):
    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
        for tag in ("v1.0.0", "v2.0.0"):
            await shelf.push(f"function-dep:{tag}", "Function")
        for name, version in (("one", "<v2.0.0"), ("other", ">=v2.0.0")):
            depends = needs(shelf, ("Function", "function-dep", version))
            await shelf.push(f"{name}:v1.0.0", "Configuration", dependsOn=depends)
        one = await shelf.install(CONFIGURATION, "one:v1.0.0")
        await s.until(CONFIGURATION, one, HEALTHY)
        other = await shelf.install(CONFIGURATION, "other:v1.0.0")
        refused = await shelf.revision(
            CONFIGURATION, other, lambda found: "incompatible" in said(found, "RevisionHealthy")
        )
        source = shelf.source("function-dep")
        assert said(refused, "RevisionHealthy").splitlines() == [
            "cannot resolve package dependencies: incompatible dependencies: existing package "
            f"{source}@v1.0.0 is incompatible with constraint >=v2.0.0",
            f"{source}@v1.0.0",
            f"├─ <v2.0.0 wanted by {shelf.source('one')}@v1.0.0",
            f"└─ >=v2.0.0 wanted by {shelf.source('other')}@v1.0.0  ✗ v1.0.0 is not",
        ]
        assert counts(refused) == (1, 1, 1)
        assert not condition("Healthy", "True")(await s.client.get(CONFIGURATION, other))
        assert condition("Healthy", "True")(await s.client.get(CONFIGURATION, one)), "who was first is well"
        for kind, name in ((CONFIGURATION, one), (CONFIGURATION, other)):
            await shelf.remove(kind, name)
        await shelf.remove(FUNCTION, shelf.installed_as("function-dep"))

    play(scenario)


def test_packages_that_depend_on_each_other_in_a_circle_come_to_an_end(play, registry):
    """The Lock says so, and nothing more is installed until the circle is broken."""

    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
        await shelf.push("a:v1.0.0", "Configuration", dependsOn=needs(shelf, ("Configuration", "b", "*")))
        depends = needs(shelf, ("Configuration", "a", "*"), ("Configuration", "c", "*"))
        await shelf.push("b:v1.0.0", "Configuration", dependsOn=depends)
        await shelf.push("c:v1.0.0", "Configuration")
        name = await shelf.install(CONFIGURATION, "a:v1.0.0")
        lock = await s.eventually(lambda: locked_with(s, "cannot sort DAG: detected cycle on: "))
        assert f"{shelf.source('a')} → {shelf.source('b')} → {shelf.source('a')}" in said(lock, "Resolved")
        assert await s.client.get(CONFIGURATION, shelf.installed_as("c")) is None
        # As long as one wants the other, it is installed again.
        for each in (name, shelf.installed_as("b")):
            await s.client.patch_merge(CONFIGURATION, each, {"spec": {"skipDependencyResolution": True}})
        await s.eventually(shelf.is_unlocked)
        for each in (name, shelf.installed_as("b")):
            await shelf.remove(CONFIGURATION, each)

    play(scenario)


async def locked_with(s: Scenario, words: str) -> dict | None:
    """The Lock, if its condition says this."""
    lock = await s.client.get(LOCK, "lock")
    return lock if words in said(lock or {}, "Resolved") else None


def test_a_dependency_that_no_version_fulfils_is_told_and_the_others_are_installed(play, registry):
    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
        await shelf.push("function-dep:v1.0.0", "Function")
        await shelf.push("base:v1.0.0", "Configuration")
        wanted = needs(shelf, ("Function", "function-dep", ">=v3.0.0"), ("Configuration", "base", "*"))
        await shelf.push("platform:v1.0.0", "Configuration", dependsOn=wanted)
        name = await shelf.install(CONFIGURATION, "platform:v1.0.0")
        lock = await s.eventually(lambda: locked_with(s, shelf.source("function-dep")))
        told = said(lock, "Resolved").splitlines()[0]
        assert told.startswith(
            f"dependency ({shelf.source('function-dep')}) does not have a valid version to "
        )
        assert told.endswith("Constraints: [>=v3.0.0]")
        await s.until(CONFIGURATION, shelf.installed_as("base"), HEALTHY)
        waiting = await shelf.revision(CONFIGURATION, name, lambda found: counts(found) == (2, 1, 0))
        expected = f'missing dependencies: "{shelf.source("function-dep")}" (>=v3.0.0)'
        assert said(waiting, "RevisionHealthy") == f"cannot resolve package dependencies: {expected}"
        await shelf.push("function-dep:v3.1.0", "Function")
        await s.until(CONFIGURATION, name, HEALTHY)
        for kind, each in ((CONFIGURATION, "platform"), (CONFIGURATION, "base"), (FUNCTION, "function-dep")):
            await shelf.remove(kind, shelf.installed_as(each))

    play(scenario)


def test_what_a_package_brought_is_put_back_and_then_nothing_is_written(play, registry):
    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
        await shelf.push("platform:v1.0.0", "Configuration", definition(s), marked(s, "v1"))
        name = await shelf.install(CONFIGURATION, "platform:v1.0.0", commonLabels={"from": "platform"})
        await s.until(CONFIGURATION, name, HEALTHY)
        await s.until(DEFINITION, s.xrs.resource, condition("Established", "True"))
        await s.client.delete(COMPOSITION, s.id)
        change = {"spec": {"connectionSecretKeys": ["mine"], "group": s.group}}
        await s.client.patch_merge(DEFINITION, s.xrs.resource, change)
        restored = await s.until(COMPOSITION, s.id, bool)
        assert restored["metadata"]["labels"] == {"from": "platform"}
        kept = await s.client.get(DEFINITION, s.xrs.resource)
        assert kept["spec"]["connectionSecretKeys"] == ["mine"], "what the package does not say is the user's"

        revision = await shelf.revision(CONFIGURATION, name)
        await asyncio.sleep(1)
        before = await package_writes(s)
        kind = REVISIONS[CONFIGURATION.kind]
        await s.client.patch_merge(kind, revision["metadata"]["name"], {"metadata": {"labels": {"a": "b"}}})
        await asyncio.sleep(1)
        assert await package_writes(s) == before + 1, "only ours: a look that changes nothing writes nothing"
        await shelf.remove(CONFIGURATION, name)
        await s.until_gone(DEFINITION, s.xrs.resource)

    play(scenario)


async def package_writes(s: Scenario) -> int:
    """How many requests wrote packages, their revisions, the Lock or what they bring, by anybody."""
    reply = await s.client.request("GET", "/metrics", accept="text/plain")
    return sum(
        int(float(line.rpartition(" ")[2]))
        for line in reply.data.decode().splitlines()
        if line.startswith("apiserver_request_total{")
        and any(f'group="{group}"' in line for group in ("pkg.crossplane.io", "apiextensions.crossplane.io"))
        and not any(f'verb="{verb}"' in line for verb in ("GET", "LIST", "WATCH"))
    )


def test_an_object_that_belongs_to_another_package_is_not_taken(play, registry):
    """Nothing of the package is installed then: everything is tried first."""

    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
        await shelf.push("first:v1.0.0", "Configuration", definition(s))
        await shelf.push("second:v1.0.0", "Configuration", definition(s), marked(s, "v1"))
        first = await shelf.install(CONFIGURATION, "first:v1.0.0")
        await s.until(CONFIGURATION, first, HEALTHY)
        second = await shelf.install(CONFIGURATION, "second:v1.0.0")
        refused = await shelf.revision(CONFIGURATION, second, condition("RevisionHealthy", "False"))
        told = said(refused, "RevisionHealthy")
        story = f"cannot establish control of object: {s.xrs.resource} is already controlled by "
        assert told.startswith(f"{story}ConfigurationRevision {first}-")
        assert await s.client.get(COMPOSITION, s.id) is None
        for name in (second, first):
            await shelf.remove(CONFIGURATION, name)

    play(scenario)


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
def test_a_package_that_does_not_fit_says_so(play, registry, kind, spec, message):
    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
        await shelf.push("platform:v1.0.0", kind, **spec)
        name = await shelf.install(CONFIGURATION, "platform:v1.0.0")
        refused = await shelf.revision(CONFIGURATION, name, condition("RevisionHealthy", "False"))
        assert said(refused, "RevisionHealthy") == message
        if spec:
            await s.client.patch_merge(CONFIGURATION, name, {"spec": {"ignoreCrossplaneConstraints": True}})
            await s.until(CONFIGURATION, name, HEALTHY)
        await shelf.remove(CONFIGURATION, name)

    play(scenario)


def test_what_a_provider_brings_can_be_composed_at_once(play, registry):
    """Its kinds have roles, which are gathered into those of who composes and of who uses them."""

    async def scenario(s: Scenario) -> None:
        shelf, group = Shelf(s, registry), f"cloud.{s.group}"
        await shelf.push("provider-x:v1.0.0", "Provider", crd(group))
        bucket = {"apiVersion": f"{group}/v1", "kind": "Bucket", "metadata": {"name": s.id}}
        step = resources(entry("bucket", base=bucket))
        await shelf.push("platform:v1.0.0", "Configuration", definition(s), composition(s, step))
        provider = await shelf.install(PROVIDER, "provider-x:v1.0.0")
        revision = await shelf.revision(PROVIDER, provider, REVISION_HEALTHY)
        name = f"crossplane:provider:{revision['metadata']['name']}"
        edit = await s.client.get(CLUSTER_ROLE, f"{name}:aggregate-to-edit")
        assert edit["metadata"]["labels"]["rbac.crossplane.io/aggregate-to-crossplane"] == "true"
        assert edit["rules"] == [
            {"apiGroups": [group], "resources": ["buckets", "buckets/status"], "verbs": ["*"]}
        ]
        assert await s.client.get(CLUSTER_ROLE, f"{name}:system")
        platform = await shelf.install(CONFIGURATION, "platform:v1.0.0")
        await s.until(DEFINITION, s.xrs.resource, condition("Established", "True"))
        xr = {"apiVersion": s.api_version, "kind": s.xrs.kind, "metadata": {"name": s.id}, "spec": {}}
        await s.client.apply(s.xrs, xr, "test")
        await s.until(s.xrs, s.id, READY)
        assert await s.client.get(Kind(group, "v1", "Bucket", "buckets", False), s.id)
        await s.client.delete(s.xrs, s.id)
        await s.until_gone(s.xrs, s.id)
        await shelf.remove(CONFIGURATION, platform)
        await shelf.remove(PROVIDER, provider)
        await s.until_gone(CLUSTER_ROLE, f"{name}:aggregate-to-edit")

    play(scenario)


def test_a_provider_cannot_bring_a_kind_of_the_control_plane_itself(play, registry):
    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
        wicked = crd("pkg.crossplane.io", "Function")
        await shelf.push("provider-x:v1.0.0", "Provider", wicked, crd(f"cloud.{s.group}"))
        name = await shelf.install(PROVIDER, "provider-x:v1.0.0")
        refused = await shelf.revision(PROVIDER, name, condition("RevisionHealthy", "False"))
        assert said(refused, "RevisionHealthy") == (
            "cannot establish control of object: functions.pkg.crossplane.io is already controlled by the "
            "control plane itself"
        )
        assert await s.client.get(CRD, f"buckets.cloud.{s.group}") is None
        await shelf.remove(PROVIDER, name)

    play(scenario)


def test_a_dependency_on_a_function_that_is_built_in_needs_no_registry(play, registry):
    async def scenario(s: Scenario) -> None:
        shelf = Shelf(s, registry)
        nowhere = Shelf(s, "registry.example")
        depends = needs(nowhere, ("Function", "function-go-templating", ">=v0.9.2"))
        await shelf.push("platform:v1.0.0", "Configuration", dependsOn=depends)
        name = await shelf.install(CONFIGURATION, "platform:v1.0.0")
        await s.until(CONFIGURATION, name, HEALTHY)
        function = await s.until(FUNCTION, shelf.installed_as("function-go-templating"), HEALTHY)
        assert function["spec"]["package"].endswith("/function-go-templating:v0.9.2")
        await shelf.remove(CONFIGURATION, name)
        await shelf.remove(FUNCTION, shelf.installed_as("function-go-templating"))

    play(scenario)
