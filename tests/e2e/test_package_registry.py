"""Packages from a real registry: installed, used, upgraded and rolled back; what they depend on."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest

from crossply.values import yaml
from tests.e2e.packaging import CONFIGURATION, HEALTHY, Shelf, composition, crossply, definition
from tests.e2e.pipelines import entry, resources
from tests.e2e.scenario import COMPOSITION, CONFIG_MAP, DEFINITION, Scenario, condition
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

        await crossply(s, "xpkg", "update", "configuration", f"{source}:v1.1.0", directory=tmp_path)
        await s.until(CONFIG_MAP, s.id, has_mark("v1.1.0"))
        await s.until(CONFIGURATION, name, HEALTHY)
        new, old = await shelf.revisions(CONFIGURATION, name)
        assert (new["spec"]["revision"], new["spec"]["desiredState"]) == (2, "Active")
        assert (old["spec"]["revision"], old["spec"]["desiredState"]) == (1, "Inactive")

        await crossply(s, "xpkg", "update", "configuration", f"{source}:v1.0.0", directory=tmp_path)
        await s.until(CONFIG_MAP, s.id, has_mark("v1.0.0"))
        again, other = await shelf.revisions(CONFIGURATION, name)
        assert again["metadata"]["name"] == first["metadata"]["name"]
        assert (again["spec"]["revision"], other["spec"]["desiredState"]) == (3, "Inactive")

        await shelf.remove(CONFIGURATION, name)
        await s.until_gone(COMPOSITION, s.id)
        assert not await shelf.locked()

    play(scenario)
