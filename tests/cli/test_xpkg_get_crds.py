"""`xpkg get-crds` and `validate` fetch packages for the kinds that they bring."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from crossply.cli.main import main
from crossply.xpkg.image_push import push_image
from crossply.xpkg.image_reference import parse
from crossply.xpkg.registry_session import Registries
from tests.support.images import archive, image, member, package
from tests.support.programs import needs
from tests.support.registry import docker_registry

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.acme.test}
spec:
  group: acme.test
  names: {kind: Lamp, plural: lamps}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
"""
PROVIDER = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Provider\nmetadata: {name: lamps}\nspec: {}\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def test_files_are_organized_by_group_and_version_or_flat(capsys: pytest.CaptureFixture[str]) -> None:
    Path("crd.yaml").write_text(CRD)
    assert main(["xpkg", "get-crds", "crd.yaml", "-o", "out"]) == 0
    assert capsys.readouterr().out == "wrote out/acme.test/v1/lamp.yaml\nTotal 1 CRDs written to out\n"
    assert main(["xpkg", "get-crds", "crd.yaml", "-o", "out", "--flat"]) == 0
    assert Path("out/lamps.acme.test.yaml").read_text().startswith("apiVersion: apiextensions.k8s.io/v1\n")
    assert main(["xpkg", "get-crds", "crd.yaml", "-o", "s", "--json-schema"]) == 0
    schema = json.loads(Path("s/acme.test/v1/lamp.json").read_text())
    assert schema["x-kubernetes-group-version-kind"][0]["kind"] == "Lamp"


@pytest.mark.parametrize("flags", [[], ["--json-schema"]])
def test_a_package_without_kinds_is_reported(capsys: pytest.CaptureFixture[str], flags: list[str]) -> None:
    Path("crd.yaml").write_text(CRD.partition("spec:")[0])
    assert main(["xpkg", "get-crds", "crd.yaml", "-o", "out", *flags]) == 1
    assert 'the definition "lamps.acme.test" does not define a kind' in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_name_cannot_lead_out_of_the_directory(tmp_path: Path) -> None:
    Path("crd.yaml").write_text(CRD.replace("lamps.acme.test", "../../../escaped"))
    assert main(["xpkg", "get-crds", "crd.yaml", "-o", "a/b/out", "--flat"]) == 0
    assert [path.name for path in tmp_path.rglob("escaped.yaml")] == ["escaped.yaml"]
    assert (tmp_path / "a/b/out/escaped.yaml").exists()


@needs("docker-registry")
@pytest.mark.xdist_group("registry")
def test_packages_are_fetched_once_and_in_the_best_version(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        asyncio.run(fill(address))
        configuration = (
            "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nmetadata: {name: c}\nspec:\n"
            f"  dependsOn: [{{provider: {address}/acme/lamps, version: '>=v1.0.0'}}]\n"
        )
        Path("crossplane.yaml").write_text(configuration)
        assert main(["xpkg", "get-crds", "crossplane.yaml", "-o", "out"]) == 0
        core = ["--crossplane-image", f"{address}/acme/core:v1"]
        assert main(["xpkg", "get-crds", "crossplane.yaml", "-o", "core", "--no-cache", "--flat", *core]) == 0
    assert Path("out/acme.test/v1/lamp.yaml").exists()
    assert Path("core/xrds.yaml").exists()
    capsys.readouterr()
    Path("lamp.yaml").write_text(
        "apiVersion: acme.test/v1\nkind: Lamp\nmetadata: {name: a}\nspec: {odd: 1}\n"
    )
    assert main(["validate", "crossplane.yaml", "lamp.yaml", "--crossplane-image="]) == 1
    assert 'unknown field: "odd"' in capsys.readouterr().out, "the registry is gone, the cache is not"


async def fill(address: str) -> None:
    core = image(archive([member("crds/a.yaml", CRD.replace("lamps.acme.test", "xrds").encode())]))
    newer = package(f"{PROVIDER}---\n{CRD}".encode())
    async with Registries() as registries:
        await push_image(registries, package(PROVIDER.encode()), parse(f"{address}/acme/lamps:v1.0.0"))
        await push_image(registries, newer, parse(f"{address}/acme/lamps:v1.1.0"))
        await push_image(registries, core, parse(f"{address}/acme/core:v1"))
