"""`xpkg batch` makes many small packages of one base image, each with the kinds and program of a service."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from crossply.xpkg import media_types as media
from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.provider_family_build import PackageNaming, parse_platform
from crossply.xpkg.registry_failures import NotInRegistry
from tests.support.cli.command import Run
from tests.support.cli.provider_family import (
    PLATFORMS,
    TEMPLATE,
    base,
    kinds,
    package_of,
    pulled,
    real,
    resolve_image,
    words,
)
from tests.support.registry import ScriptedRegistry

pytestmark = pytest.mark.xdist_group("registry")


@real
def test_every_service_becomes_a_package_for_all_platforms(run: Run, family: Path, registry: str) -> None:
    assert run(*words(registry), "--smaller-providers=moon,sun") == (0, "", "")
    for service, expected_kinds in (("moon", ["Sea", "Crater"]), ("sun", ["Spot"])):
        name = f"{registry}/team/provider-sky-{service}:v1.0.0"
        index = resolve_image(name)
        assert index.media_type == media.OCI_INDEX
        platforms = [manifest["platform"] for manifest in index.content["manifests"]]
        assert platforms == [
            {"os": "linux", "architecture": architecture} for architecture in ("amd64", "arm64")
        ]
        for architecture in ("amd64", "arm64"):
            image = pulled(name, family / "blobs", architecture)
            assert kinds(image) == expected_kinds
            described = package_of(image).meta["metadata"]
            assert described["name"] == f"provider-sky-{service}"
            assert described["annotations"] == {"service": service, "colour": "grey"}
            assert image.inner["Entrypoint"] == ["/usr/local/bin/provider"]
            root = family / f"{service}-{architecture}"
            root.mkdir()
            unpack(image, str(root))
            program = root / "usr/local/bin/provider"
            assert program.read_text() == f"{service} linux_{architecture}"
            assert program.stat().st_mode & 0o777 == 0o755
            assert (root / "etc/base").read_text() == architecture, "the layers of the base are below"


@real
def test_platforms_share_the_layers_of_the_package(run: Run, family: Path, registry: str) -> None:
    assert run(*words(registry, "shared"), "--smaller-providers=moon", "--concurrency=1")[0] == 0
    name = f"{registry}/shared/provider-sky-moon:v1.0.0"
    layers = [pulled(name, family / "blobs", architecture).layers for architecture in ("amd64", "arm64")]
    for image_layers in layers:
        assert [layer.purpose for layer in image_layers] == ["", media.BASE, media.EXAMPLES, ""]
    amd, arm = ([layer.blob.digest for layer in image_layers] for image_layers in layers)
    assert amd[1:3] == arm[1:3]
    assert amd[0] != arm[0]
    assert amd[3] != arm[3]


@real
def test_packages_can_be_stored_and_not_pushed(run: Run, family: Path, registry: str) -> None:
    stored = ["--build-only", "--store-packages=moon", "-o", "out", "--smaller-providers=moon,sun"]
    assert run(*words(registry, "unpushed"), *stored) == (0, "", "")
    files = sorted(str(path.relative_to(family)) for path in (family / "out").rglob("*.xpkg"))
    assert files == [f"out/{platform}/provider-sky-moon-v1.0.0.xpkg" for platform in PLATFORMS]
    image = read_archive(str(family / files[1]))
    assert (image.platform["architecture"], kinds(image)) == ("arm64", ["Sea", "Crater"])
    with pytest.raises(NotInRegistry):
        resolve_image(f"{registry}/unpushed/provider-sky-moon:v1.0.0")
    before = (family / files[0]).read_bytes()
    run(*words(registry, "unpushed"), *stored)
    assert (family / files[0]).read_bytes() == before, "the same files give the same package"


def test_base_images_of_a_container_engine_are_used_where_it_has_them(
    run: Run, family: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedRegistry()
    engine.serve("/_ping")
    for architecture in ("amd64", "arm64"):
        write_archive(base(architecture), str(family / "saved.tar"))
        place = f"/images/index.docker.io/build-7/base-{architecture}:latest"
        engine.serve(f"{place}/json", b"{}")
        engine.serve(f"{place}/get", (family / "saved.tar").read_bytes())

    async def main() -> tuple[int, str, str]:
        async with engine.running() as there:
            monkeypatch.setenv("DOCKER_HOST", f"tcp://{there.address}")
            stored = ["--build-only", "--store-packages=sun", "--smaller-providers=sun"]
            line = [*words("registry.test"), "--family-base-image=build-7/base", *stored]
            return await asyncio.to_thread(run, *line)

    assert asyncio.run(main()) == (0, "", "")
    for platform in PLATFORMS:
        image = read_archive(str(family / platform / "provider-sky-sun-v1.0.0.xpkg"))
        root = family / f"root-{platform}"
        root.mkdir()
        unpack(image, str(root))
        assert platform == f"linux_{(root / 'etc/base').read_text()}"


@real
def test_overrides_add_groups_to_a_service(run: Run, family: Path, registry: str) -> None:
    for platform in PLATFORMS:
        (family / "bin" / platform / "monolith").write_text("all")
    code, _, err = run(
        *words(registry, "other"),
        "--smaller-providers=monolith,sun",
        "--crd-group-override=monolith=*;sun=moonshine",
        "--examples-group-override=monolith=*;sun=moon",
        "--package-repo-override=monolith=provider-all",
        "--provider-name-suffix-for-push=next",
        "--ignore=moon.sky.test_*.yaml",
        "--platform=linux_arm64",
    )
    assert (code, err) == (0, "")
    monolith = pulled(f"{registry}/other/provider-all-next:v1.0.0", family / "blobs")
    assert resolve_image(f"{registry}/other/provider-all-next:v1.0.0").media_type == media.OCI_MANIFEST
    assert kinds(monolith) == ["Sea", "Ray", "Spot"], "what is ignored is ignored in the folder itself"
    assert package_of(monolith).name == "provider-all", "the suffix is only for the repository"
    sun = pulled(f"{registry}/other/provider-sky-next-sun:v1.0.0", family / "blobs")
    assert kinds(sun) == ["Ray"]
    assert [layer.purpose for layer in sun.layers].count(media.EXAMPLES) == 1


@real
def test_variables_come_from_a_file_and_from_flags(run: Run, family: Path, registry: str) -> None:
    (family / "package/crossplane.yaml.tmpl").write_text(
        TEMPLATE.replace(
            "    colour: {{ .colour }}\n",
            "    colour: {{ .colour }}\n    phases: |\n{{ toYAML .phases | indent 6 }}\n"
            '    size: "{{ .size }}"\n{{- range .phases }}\n    phase-{{ . }}: there{{ end }}\n'
            '    pair: |\n{{ dict "a" .size | toYAML | indent 6 }}\n',
        )
    )
    (family / "vars.yaml").write_text("moon: {colour: white, phases: [new, full], size: 3}\nsun:\n")
    assert run(*words(registry, "vars"), "--smaller-providers=moon", "--service-metadata=vars.yaml") == (
        0,
        "",
        "",
    )
    image = pulled(f"{registry}/vars/provider-sky-moon:v1.0.0", family / "blobs")
    assert package_of(image).meta["metadata"]["annotations"] == {
        "service": "moon",
        "colour": "grey",
        "phases": "- new\n- full\n",
        "size": "3",
        "phase-new": "there",
        "phase-full": "there",
        "pair": "a: 3\n",
    }


FILES = [
    ("registry.test/team/%s:v1.0.0", "v1.0.0", "a tag is the version"),
    ("registry.test/team/%s", "latest", "no tag"),
    ("127.0.0.1:5000/team/%s", "latest", "a port is no tag"),
    ("127.0.0.1:5000/team/%s:v2", "v2", "a port and a tag"),
]


@pytest.mark.parametrize(("url_format", "version", "why"), FILES, ids=[row[2] for row in FILES])
def test_files_are_named_by_the_version(url_format: str, version: str, why: str) -> None:
    assert (
        PackageNaming("provider-sky", url_format, {}).file("moon") == f"provider-sky-moon-{version}.xpkg"
    ), why


@pytest.mark.parametrize("text", ["", "linux", "linux_", "_arm64", "linux_arm_v7", "linux/arm64"])
def test_a_platform_is_two_words(text: str) -> None:
    with pytest.raises(BuildFailed):
        parse_platform(text)
