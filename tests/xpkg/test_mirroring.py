"""A package and all that it depends on is copied, byte for byte, to a registry or a directory."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crossply.cli.main import main
from crossply.xpkg.dependencies import DependencyError
from crossply.xpkg.image import Image, encode
from crossply.xpkg.image_pull import manifest, pull_package, resolve
from crossply.xpkg.image_push import push_image, push_images
from crossply.xpkg.image_reference import parse
from crossply.xpkg.mirror import closure
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.registry_session import Registries
from tests.support.images import image, package
from tests.support.programs import find, needs
from tests.support.registry import docker_registry

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("registry"),
]


def described(name: str, *dependencies: tuple[str, str]) -> Image:
    """A configuration that depends on others."""
    lines = [
        f"  - {{package: {source}, kind: Function, version: '{version}'}}" for source, version in dependencies
    ]
    depends = "\n".join(["  dependsOn:", *lines]) if lines else "  capabilities: []"
    head = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\n"
    return package(f"{head}metadata: {{name: of-{name}}}\nspec:\n{depends}\n".encode())


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        asyncio.run(fill(address))
        yield address


async def fill(address: str) -> None:
    """A platform that wants a network and a function, and a network that wants an older function."""
    function, network = f"{address}/acme/function", f"{address}/acme/network"
    packages: dict[str, Image] = {
        "acme/function:v1.0.0": described("f1"),
        "acme/function:v1.1.0": described("f11"),
        "acme/network:v0.3.0": described("n", (function, "<v1.1.0")),
        "acme/platform:v2.0.0": described("p", (network, ">=v0.1.0"), (function, ">=v1.0.0")),
        "acme/broken:v1.0.0": described("b", (function, ">=v9.0.0")),
        "acme/ring:v1.0.0": described("r", (f"{address}/acme/ring", "*")),
    }
    async with Registries() as registries:
        for name, picture in packages.items():
            await push_image(registries, picture, parse(f"{address}/{name}"))
        digest = encode(packages["acme/platform:v2.0.0"]).manifest.digest
        signature = parse(f"{address}/acme/platform:{digest.replace(':', '-')}.sig")
        await push_image(registries, image()._replace(annotations={"signature": "1"}), signature)
        other = package(b"arm: 1\n")
        other = other._replace(config={**other.config, "architecture": "s390x"})
        await push_images(registries, [other, described("m")], parse(f"{address}/acme/multi:v1.0.0"), {})


def with_registries(work: Any) -> Any:
    async def main() -> Any:
        async with Registries() as registries:
            return await work(registries)

    return asyncio.run(main())


def mirror(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["xpkg", "mirror", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_all_selected_images_are_copied_with_their_digest(
    registry: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = mirror(capsys, f"{registry}/acme/platform:v2.0.0", f"{registry}/copies/of")
    names = [line.split()[0].removeprefix(f"{registry}/") for line in lines]
    assert names == [
        "acme/platform:v2.0.0",
        "acme/network:v0.3.0",
        "acme/function:v1.1.0",
        "acme/function:v1.0.0",
    ]
    assert f"(required by {registry}/acme/platform:v2.0.0)" in lines[1]

    async def compare(registries: Registries) -> None:
        for name in names:
            source, copied = parse(f"{registry}/{name}"), parse(f"{registry}/copies/of/{name}")
            assert await resolve(registries, source) == await resolve(registries, copied)
        digest = await resolve(registries, parse(f"{registry}/acme/platform:v2.0.0"))
        beside = f"{registry}/copies/of/acme/platform:{digest.replace(':', '-')}.sig"
        assert (await manifest(registries, parse(beside))).content["annotations"] == {"signature": "1"}

    with_registries(compare)


def test_all_platforms_are_copied(registry: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mirror(capsys, f"{registry}/acme/multi:v1.0.0", f"{registry}/copies", "--skip-dependencies")

    async def pull_copy(registries: Registries) -> tuple[int, bytes]:
        copied = parse(f"{registry}/copies/acme/multi:v1.0.0")
        pulled = await pull_package(registries, copied, str(tmp_path))
        return len((await manifest(registries, copied)).content["manifests"]), stream_of(pulled.image)

    platforms, stream = with_registries(pull_copy)
    assert platforms == 2
    assert b"name: of-m" in stream


def test_a_directory_is_an_oci_layout(
    registry: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mirror(capsys, f"{registry}/acme/network:v0.3.0", f"oci:{tmp_path}")
    second = mirror(capsys, f"{registry}/acme/network:v0.3.0", f"oci:{tmp_path}")
    assert len(second) == 2
    if skopeo := find("skopeo"):
        name = f"oci:{tmp_path}:{registry}/acme/network:v0.3.0"
        done = subprocess.run([skopeo, "inspect", name], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_missing_version_is_reported_with_the_existing_ones(registry: str, tmp_path: Path) -> None:
    with pytest.raises(DependencyError, match=r"no version of .*/acme/function is >=v9\.0\.0") as caught:
        with_registries(
            lambda registries: closure(registries, parse(f"{registry}/acme/broken:v1.0.0"), str(tmp_path))
        )
    assert caught.value.hint == "there are: v1.0.0, v1.1.0"


def test_a_package_that_wants_itself_is_copied_once(registry: str, tmp_path: Path) -> None:
    images = with_registries(
        lambda registries: closure(registries, parse(f"{registry}/acme/ring:v1.0.0"), str(tmp_path))
    )
    assert len(images) == 1
