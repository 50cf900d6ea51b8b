"""A registry that is called `localhost:PORT` is one, wherever a package is named."""

from __future__ import annotations

import pytest

from crossply.values import yaml
from tests.support.e2e.packages import (
    CONFIGURATION,
    IMAGE_CONFIG,
    PROVIDER,
    Packages,
    composition,
    crd,
    crossply,
    definition,
)
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.scenario import Scenario, condition
from tests.support.programs import needs

pytestmark = [needs("docker-registry"), pytest.mark.xdist_group("packages")]
REVISION_HEALTHY = condition("RevisionHealthy", "True", "HealthyPackageRevision")


@pytest.fixture
def local(s: Scenario, registry):
    return Packages(s, registry.replace("127.0.0.1", "localhost"))


async def test_packages_and_their_dependencies_are_installed_from_localhost(s: Scenario, local):
    assert local.address.startswith("localhost:")
    await local.push("provider-x:v1.0.0", "Provider", crd(f"cloud.{s.group}"))
    marked = composition(s, resources(entry()))
    depends = [{"provider": local.source("provider-x"), "version": ">=v1.0.0"}]
    await local.push("platform:v1.0.0", "Configuration", definition(s), marked, dependsOn=depends)
    platform = await local.install(CONFIGURATION, "platform:v1.0.0")
    await local.revision(CONFIGURATION, platform, REVISION_HEALTHY)
    [source] = {entry["source"] for name, entry in (await local.locked()).items() if name == "provider-x"}
    assert source == local.source("provider-x")
    await local.remove(CONFIGURATION, platform)
    await local.remove(PROVIDER, f"{s.id}-provider-x")


async def test_an_image_config_leads_to_localhost(s: Scenario, local):
    await local.push("provider-x:v1.0.0", "Provider", crd(f"cloud.{s.group}"))
    body = {
        "apiVersion": IMAGE_CONFIG.api_version,
        "kind": IMAGE_CONFIG.kind,
        "metadata": {"name": s.id},
        "spec": {
            "matchImages": [{"prefix": f"registry.example.org/{s.id}/"}],
            "rewriteImage": {"prefix": f"{local.address}/{s.id}/"},
        },
    }
    await s.client.create(IMAGE_CONFIG, body)
    package = f"registry.example.org/{s.id}/provider-x:v1.0.0"
    obj = {"apiVersion": PROVIDER.api_version, "kind": PROVIDER.kind, "metadata": {"name": s.id}}
    await s.client.apply(PROVIDER, {**obj, "spec": {"package": package}}, "test")
    revision = await local.revision(PROVIDER, s.id, REVISION_HEALTHY)
    assert revision["status"]["resolvedImage"].startswith(f"{local.address}/")
    await s.client.delete(IMAGE_CONFIG, s.id)
    await local.remove(PROVIDER, s.id)


async def test_commands_take_localhost_for_a_registry(s: Scenario, local, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    meta = {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": "Configuration", "metadata": {"name": "x"}}
    (package / "crossplane.yaml").write_text(yaml.dump(meta))
    (package / "definition.yaml").write_text(yaml.dump(definition(s)))
    built = str(tmp_path / "built.xpkg")
    image = f"{local.source('built')}:v1.0.0"
    await crossply(s, "xpkg", "build", "-f", str(package), "-o", built, directory=tmp_path)
    await crossply(s, "xpkg", "push", "-f", built, image, directory=tmp_path)
    extracted = tmp_path / "extracted.gz"
    await crossply(s, "xpkg", "extract", "--from-xpkg=false", image, "-o", str(extracted), directory=tmp_path)
    assert extracted.exists()
    await crossply(s, "xpkg", "install", "configuration", image, s.id, directory=tmp_path)
    await local.revision(CONFIGURATION, s.id, REVISION_HEALTHY)
    await local.remove(CONFIGURATION, s.id)
