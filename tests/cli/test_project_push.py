"""`crossply project push` pushes all packages of a project to a real registry, or reports an error."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from crossply.xpkg.archive_writer import write_archive, write_tagged
from crossply.xpkg.image_pull import ResolvedImage, manifest, pull_package, tags
from crossply.xpkg.image_reference import parse
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.package_yaml import Package, read
from crossply.xpkg.registry_session import Registries
from tests.support.cli.command import Run, last
from tests.support.cli.project import ARCHITECTURES, FILES, TEMPLATES, push_bases, runtime, write_project
from tests.support.images import package
from tests.support.programs import needs
from tests.support.registry import docker_registry

real = needs("docker-registry")
pytestmark = pytest.mark.xdist_group("registry")


def fetched(name: str, directory: Path) -> tuple[ResolvedImage, Package]:
    async def main() -> tuple[ResolvedImage, Package]:
        async with Registries() as registries:
            index = await manifest(registries, parse(name))
            pulled = await pull_package(registries, parse(name), str(directory))
            return index, read(stream_of(pulled.image))

    return asyncio.run(main())


@real
def test_the_configuration_depends_on_the_pushed_digests(
    project: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        asyncio.run(push_bases(address))
        write_project(tmp_path, address, {**FILES, **TEMPLATES})
        assert project("build")[0] == 0
        name = f"{address}/acme/platform"
        assert project("push", "-t", "v1.2.3")[:2] == (0, f'Pushed project "platform" to {name}:v1.2.3\n')
        _, configuration = fetched(f"{name}:v1.2.3", tmp_path)
        dependency = configuration.meta["spec"]["dependsOn"][-1]
        assert dependency["package"] == f"{name}_draw"
        index, function = fetched(f"{dependency['package']}@{dependency['version']}", tmp_path)
        assert function.name == "platform-draw"
        assert sorted(entry["platform"]["architecture"] for entry in index.content["manifests"]) == [
            *ARCHITECTURES
        ]
        assert fetched(f"{name}_draw:v1.2.3", tmp_path)[0].digest == dependency["version"]


@real
def test_one_architecture_is_an_index_too_and_the_tag_has_the_time(
    project: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    listed = "  functions: [{source: Tarball, tarball: {name: fast, pathPrefix: fast}}]\n"
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        write_project(tmp_path / "deep", address, FILES, f"{listed}  architectures: [amd64]\n")
        write_archive(runtime("amd64"), str(tmp_path / "deep/fast-amd64.tar"))
        file = ("-f", "deep/crossplane-project.yaml")
        assert project("build", *file)[0] == 0
        code, out, err = project("push", *file)
        assert code == 0, err
        match = re.search(r":(v0\.0\.0-\d{10})\n$", out)
        assert match
        tag = match.group(1)

        async def listed_tags() -> list[str]:
            async with Registries() as registries:
                return await tags(registries, parse(f"{address}/acme/platform_fast:x"))

        assert asyncio.run(listed_tags()) == [tag]
        dependency = fetched(f"{address}/acme/platform:{tag}", tmp_path)[1].meta["spec"]["dependsOn"][-1]
        assert fetched(f"{dependency['package']}:{tag}", tmp_path)[0].digest == dependency["version"]


@pytest.mark.parametrize(
    ("functions", "sentence"),
    [
        ("", "failed to push configuration package: "),
        (
            "  functions: [{source: Tarball, tarball: {name: fast, pathPrefix: fast}}]\n",
            'failed to push function "127.0.0.1:1/acme/platform_fast": ',
        ),
    ],
)
def test_an_unreachable_registry_is_reported_with_the_package(
    project: Run, tmp_path: Path, functions: str, sentence: str
) -> None:
    write_project(tmp_path, "127.0.0.1:1", FILES, f"{functions}  architectures: [amd64]\n")
    write_archive(runtime("amd64"), str(tmp_path / "fast-amd64.tar"))
    assert project("build")[0] == 0
    code, out, err = project("push")
    assert (code, out) == (1, "")
    assert last(err).startswith(sentence)
    assert ("Pushing configuration" in err) == (not functions), "it would depend on what is not there"


def test_packages_are_not_pushed_to_an_unnamed_registry(project: Run, tmp_path: Path) -> None:
    write_project(tmp_path, "unnamed", FILES)
    assert project("build")[0] == 0
    code, _, err = project("push")
    assert code == 1
    assert last(err).startswith("failed to construct image tag: strict validation requires the registry")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "failed to read package file manifest: open "),
        (
            ["--package-file", "none.xpkg"],
            "failed to read package file manifest: open none.xpkg: no such file",
        ),
        (["--package-file", "text.xpkg"], "failed to read package file manifest: unexpected EOF"),
        (["--package-file", "one.xpkg"], "failed to find configuration image"),
        (["--package-file", "odd.xpkg"], 'failed to parse image tag "a b:c": repository can only'),
        (["--tag", "a b"], "failed to construct image tag: tag can only contain"),
        (["--repository", "Big"], "failed to parse repository: repository can only contain"),
    ],
)
def test_errors_of_push_are_reported(project: Run, tmp_path: Path, words: list[str], sentence: str) -> None:
    write_project(tmp_path, "registry.test", FILES)
    (tmp_path / "text.xpkg").write_text("text")
    write_tagged({"other.test/acme/platform:configuration": package()}, str(tmp_path / "one.xpkg"))
    write_tagged({"a b:c": package()}, str(tmp_path / "odd.xpkg"))
    code, out, err = project("push", *words)
    assert (code, out) == (1, "")
    assert last(err).startswith(sentence)
