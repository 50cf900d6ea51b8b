"""`crossply project build` writes one file with all packages of a project, or reports an error."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crossply.version import __version__
from crossply.xpkg.archive_reader import read_archive, read_tagged
from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.image import Image
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.package_yaml import read
from crossply.xpkg.project_functions import index_digest
from crossply.xpkg.python_project_image import ROOT
from crossply.xpkg.runtime_requirements import FUNCTION
from tests.support.cli.command import Run, last
from tests.support.cli.package_server import empty_wheel, serving
from tests.support.cli.project import (
    COMPOSITION,
    FILES,
    PYTHON,
    SCRIPT,
    TEMPLATES,
    XRD,
    push_bases,
    runtime,
    write_project,
)
from tests.support.programs import needs
from tests.support.registry import docker_registry

real = needs("docker-registry")
pytestmark = pytest.mark.xdist_group("registry")
OUTPUT = "_output/platform.xpkg"


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_registry(tmp_path_factory.mktemp("mirror")) as address:
        asyncio.run(push_bases(address))
        yield address


def in_order(images: dict[str, Image], repository: str) -> list[Image]:
    from crossply.xpkg.image import digest

    return sorted((image for name, image in images.items() if name.startswith(f"{repository}:")), key=digest)


def test_a_project_without_functions_is_a_configuration(project: Run, tmp_path: Path) -> None:
    write_project(tmp_path, "registry.test", FILES)
    assert project("build")[:2] == (0, f'Built project "platform" to {OUTPUT}\n')
    [(name, image)] = read_tagged(str(tmp_path / OUTPUT)).items()
    assert name == "registry.test/acme/platform:configuration"
    package = read(stream_of(image))
    assert package.meta == {
        "apiVersion": "meta.pkg.crossplane.io/v1",
        "kind": "Configuration",
        "metadata": {
            "name": "platform",
            "labels": {"team": "a"},
            "annotations": {
                "meta.crossplane.io/maintainer": "Ada",
                "meta.crossplane.io/source": "",
                "meta.crossplane.io/license": "",
                "meta.crossplane.io/description": "",
                "meta.crossplane.io/readme": "",
            },
        },
        "spec": {
            "crossplane": {"version": ">=v2.0.0-rc.0"},
            "dependsOn": [
                {
                    "apiVersion": "pkg.crossplane.io/v1",
                    "kind": "Function",
                    "package": "registry.test/crossplane-contrib/function-auto-ready",
                    "version": ">=v0.5.0",
                }
            ],
        },
    }
    kinds = [obj["kind"] for obj in package.objects]
    assert kinds == ["Composition", "CompositeResourceDefinition", "Operation"]
    assert [layer.purpose for layer in image.layers] == ["base", "upbound"]


def test_repository_and_output_can_be_chosen(project: Run, tmp_path: Path) -> None:
    write_project(tmp_path / "deeper", "registry.test", FILES)
    words = ("-f", "deeper/crossplane-project.yaml", "--repository", "acme/other", "-o", "build")
    assert project("build", *words)[1] == 'Built project "platform" to build/platform.xpkg\n'
    assert list(read_tagged(str(tmp_path / "build/platform.xpkg"))) == [
        "index.docker.io/acme/other:configuration"
    ]


def test_a_new_project_is_the_same_package_by_both_ways_to_build_it(crossply: Run, tmp_path: Path) -> None:
    assert crossply("new", "project", "demo")[0] == 0
    project_file = ("-f", "demo/crossplane-project.yaml")
    assert crossply("project", "build", *project_file)[0] == 0
    [image] = read_tagged(str(tmp_path / "_output/demo.xpkg")).values()
    words = ("-f", "demo/apis", "-e", "demo/examples", "-o", "other.xpkg")
    assert crossply("xpkg", "build", *words)[0] == 0
    one, other = read(stream_of(image)), read(stream_of(read_archive(str(tmp_path / "other.xpkg"))))
    assert one.objects == other.objects
    assert one.meta["spec"]["dependsOn"] == other.meta["spec"]["dependsOn"]


@real
def test_templates_are_put_on_the_published_function(project: Run, tmp_path: Path, mirror: str) -> None:
    write_project(tmp_path, mirror, {**FILES, **TEMPLATES})
    code, _, err = project("build")
    assert code == 0, err
    images = read_tagged(str(tmp_path / OUTPUT))
    repository = f"{mirror}/acme/platform_draw"
    assert sorted(images) == [
        f"{mirror}/acme/platform:configuration",
        f"{repository}:amd64",
        f"{repository}:arm64",
    ]
    image = images[f"{repository}:arm64"]
    package = read(stream_of(image))
    assert package.name == "platform-draw"
    assert package.meta["spec"] == {"capabilities": ["composition", "operation"]}
    described = package.meta["metadata"]["annotations"]["meta.crossplane.io/description"]
    assert described == "Function draw from project platform"
    (tmp_path / "root").mkdir()
    unpack(image, str(tmp_path / "root"))
    assert (tmp_path / "root/src/one.gotmpl").read_text() == "kind: One\n"
    assert (tmp_path / "root/src/more/two.tmpl").read_text() == "kind: Two\n"
    assert (tmp_path / "root/bin/run").read_text() == "arm64"
    assert image.inner["Env"] == ["PATH=/bin", "FUNCTION_GO_TEMPLATING_DEFAULT_SOURCE=/src"]
    configuration = read(stream_of(images[f"{mirror}/acme/platform:configuration"]))
    assert configuration.meta["spec"]["dependsOn"][-1] == {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "package": repository,
        "version": index_digest(in_order(images, repository)),
    }


@real
def test_a_python_project_is_installed_and_the_same_files_give_the_same_packages(
    project: Run, tmp_path: Path, mirror: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    write_project(tmp_path, mirror, {**FILES, **PYTHON}, "  architectures: [arm64]\n")
    assert project("build")[0] == 0
    first = (tmp_path / OUTPUT).read_bytes()
    [name] = [name for name in read_tagged(str(tmp_path / OUTPUT)) if "_greet" in name]
    image = read_tagged(str(tmp_path / OUTPUT))[name]
    assert name.endswith("_greet:arm64")
    (tmp_path / "root").mkdir()
    unpack(image, str(tmp_path / "root"))
    [main] = (tmp_path / "root").rglob("function/main.py")
    assert "return 7" in main.read_text()
    assert image.inner["Entrypoint"][:2] == ["python3", "-c"]
    assert image.inner["User"] == "65532"
    assert project("build")[0] == 0
    assert (tmp_path / OUTPUT).read_bytes() == first


@real
def test_a_python_file_is_served_from_its_package(
    project: Run, tmp_path: Path, mirror: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wheels").mkdir()
    # What others publish for the Python of the image. Crossply is not among it.
    for name in ("acme_words", *(name.replace("-", "_") for name in FUNCTION.requirements)):
        empty_wheel(tmp_path / "wheels", name, "1.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    write_project(tmp_path, mirror, {**FILES, **SCRIPT}, "  architectures: [amd64]\n")
    code, _, err = project("build")
    assert code == 0, err
    image = read_tagged(str(tmp_path / OUTPUT))[f"{mirror}/acme/platform_hello:amd64"]
    (tmp_path / "root").mkdir()
    unpack(image, str(tmp_path / "root"))
    site = tmp_path / "root" / ROOT
    files = {path.name for path in (site / "function_of_project/source").iterdir()}
    # There is bytecode where this Python is the version of the image's.
    assert files - {"__pycache__"} == {"main.py", "requirements.txt", "words.py"}
    assert (site / "acme_words-1.0.dist-info").is_dir()
    assert (site / f"crossply-{__version__}.dist-info").is_dir()
    assert (site / "crossply/sdk/__init__.py").is_file()
    with serving([sys.executable, *image.inner["Entrypoint"][1:]], str(site)) as address:
        (tmp_path / "request.json").write_text("{}")
        words = ("call", "request.json", "--target", address)
        done = subprocess.run(
            [sys.executable, "-m", "crossply.cli", "function", *words], capture_output=True, text=True
        )
    assert "hello from a file" in done.stdout, done.stderr


def test_a_function_that_others_built_comes_as_images_in_files(project: Run, tmp_path: Path) -> None:
    listed = "  functions: [{source: Tarball, tarball: {name: fast, pathPrefix: build/fast}}]\n"
    write_project(tmp_path, "registry.test", {**FILES, **TEMPLATES}, listed)
    (tmp_path / "build").mkdir()
    write_archive(runtime("amd64"), str(tmp_path / "build/fast-amd64.tar"))
    code, _, err = project("build")
    assert code == 1
    assert last(err) == (
        'failed to build function "fast": no runtime image found for architecture "arm64": looked for '
        "[build/fast-arm64.tar build/fast-arm64.tar.gz]"
    )
    write_archive(runtime("amd64"), str(tmp_path / "build/fast-arm64.tar"))
    assert last(project("build")[2]).endswith('image not available for architecture "arm64"')
    assert not (tmp_path / "_output").exists()
    write_archive(runtime("arm64"), str(tmp_path / "build/fast-arm64.tar"))
    assert project("build")[0] == 0
    assert sorted(name.rpartition("_")[2] for name in read_tagged(str(tmp_path / OUTPUT))) == [
        "fast:amd64",
        "fast:arm64",
        "registry.test/acme/platform:configuration",
    ], "what is not listed is not built"


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"functions/f/go.mod": ""}, 'failed to build function "f": functions in Go are not built here'),
        ({"functions/f/Cargo.toml": ""}, 'failed to build function "f": functions in Rust are not built'),
        ({"functions/f/package.json": ""}, 'failed to build function "f": functions in TypeScript are not'),
        (
            {"functions/f/a.tmpl": "", "functions/f/README.md": ""},
            'failed to build function "f": failed to find a builder: no suitable builder found',
        ),
        (
            {"functions/My Function/a.tmpl": ""},
            'failed to build function "My Function": failed to construct image tag: repository can only',
        ),
        (
            {"functions/f/pyproject.toml": "[project]\nname = 'f'\n"},
            'failed to build function "f": ',
        ),
        (
            {"functions/f/main.py": "", "functions/f/requirements.txt": "-r more.txt\n"},
            'failed to build function "f": requirements.txt has an option of pip: -r more.txt',
        ),
        (
            {"apis/broken.yaml": "a: [\n"},
            'failed to collect API resources: failed to parse file "',
        ),
        (
            {"apis/odd.yaml": f"{COMPOSITION}---\napiVersion: v1\nkind: Secret\n"},
            "failed to build package: failed to parse package: ",
        ),
        (
            {"examples/odd.yaml": "no: kind\n"},
            "failed to build package: failed to parse examples: ",
        ),
    ],
)
def test_an_invalid_project_is_reported_and_nothing_is_written(
    project: Run, tmp_path: Path, files: dict[str, str], sentence: str
) -> None:
    write_project(tmp_path, "registry.test", {**FILES, **files})
    code, out, err = project("build")
    assert (code, out) == (1, "")
    assert last(err).startswith(sentence)
    assert not (tmp_path / "_output").exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("  functions: [{source: Git}]\n", 'function 0: source must be Directory or Tarball, not "Git"'),
        (
            "  functions: [{source: Tarball, tarball: {name: f}}]\n",
            "function 0: tarball.pathPrefix must not be empty",
        ),
        (
            "  functions: [{source: Directory, directory: {name: ../f}}]\n",
            "function 0: its name must not have a slash",
        ),
        (
            "  functions:\n" + "  - {source: Directory, directory: {name: f}}\n" * 2,
            'several functions are called "f"',
        ),
        ("  paths: {apis: nowhere}\n", "failed to collect API resources: open "),
        ("  paths: {apis: ../elsewhere}\n", "../elsewhere is outside of the project"),
    ],
)
def test_a_project_file_that_cannot_be_followed_is_refused(
    project: Run, tmp_path: Path, more: str, sentence: str
) -> None:
    write_project(tmp_path, "registry.test", {"apis/x.yaml": XRD}, more)
    code, _, err = project("build")
    assert code == 1
    assert sentence in last(err)


@pytest.mark.parametrize("linked", ["examples", "examples/kubeconfig.yaml", "apis/kubeconfig.yaml"])
def test_private_files_of_the_builder_do_not_get_into_a_project(
    project: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, linked: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / "kubeconfig.yaml").write_text("apiVersion: v1\nkind: Config\nmetadata: {name: geheim}\n")
    write_project(tmp_path, "registry.test", {"apis/x.yaml": XRD})
    link = tmp_path / linked
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(home if linked == "examples" else home / "kubeconfig.yaml")
    code, _, err = project("build")
    assert code == 1
    assert "outside of the project" in last(err) or "is a link that leads out of" in last(err)
    assert not (tmp_path / "_output").exists()


def test_a_pipe_in_a_project_is_not_read(project: Run, tmp_path: Path) -> None:
    write_project(tmp_path, "registry.test", {"apis/x.yaml": XRD, "examples/a.yaml": "a: b\n"})
    os.unlink(tmp_path / "examples/a.yaml")
    os.mkfifo(tmp_path / "examples/a.yaml")
    (tmp_path / "examples/b.yaml").symlink_to("/dev/zero")
    code, _, err = project("build")
    assert code == 1
    assert "leads out of" in last(err) or "is not a regular file" in last(err)


@pytest.mark.parametrize("name", ["../../../escaped", "a/b", "/tmp/x", "UPPER", "."])
def test_the_name_of_a_project_is_no_path(project: Run, tmp_path: Path, name: str) -> None:
    write_project(tmp_path, "registry.test", {"apis/x.yaml": XRD})
    file = tmp_path / "crossplane-project.yaml"
    file.write_text(re.sub(r"name: \S+", f"name: {name}", file.read_text(), count=1))
    code, _, err = project("build", "-o", str(tmp_path / "out"))
    assert code == 1
    assert "name must consist of lower case letters, digits, - and ." in last(err)
    assert not (tmp_path / "out").exists()


def test_a_missing_project_is_reported(project: Run) -> None:
    code, _, err = project("build")
    assert code == 1
    assert "failed to parse project file" in err
    assert "try: run it in the folder of a project" in err
