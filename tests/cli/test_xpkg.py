"""The `xpkg` commands that need no cluster: build, extract, push, init."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
from pathlib import Path

import pytest

from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.package_stream_extraction import stream_of
from tests.support.cli.command import Run, last
from tests.support.images import archive, image, in_zstd, member
from tests.support.programs import needs, path_of, require
from tests.support.registry import ScriptedRegistry, docker_registry

FUNCTION = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Function\nmetadata: {name: function-z}\nspec: {}\n"


def test_a_package_is_built_and_extracted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "crossplane.yaml").write_text(FUNCTION)
    assert run("build") == (0, "", "")
    assert [path.name[:11] for path in tmp_path.glob("*.xpkg")] == ["function-z-"]
    assert run("extract", "--from-xpkg", "-o", "x.tar") == (0, "", "")
    assert gzip.decompress((tmp_path / "x.gz").read_bytes()).startswith(b"---\napiVersion: meta.pkg")


def test_building_reports_errors(run: Run, tmp_path: Path) -> None:
    code, _, err = run("build", "-o", "x.xpkg")
    assert (code, last(err)) == (1, "failed to build package: not exactly one package meta type")
    code, _, err = run("build", "-f", "missing")
    assert (code, last(err)) == (
        80,
        f"--package-root: stat {tmp_path}/missing: no such file or directory",
    )
    (tmp_path / "crossplane.yaml").write_text(FUNCTION)
    (tmp_path / "broken.tar").write_text("no tar")
    code, _, err = run("build", "--embed-runtime-image-tarball", "broken.tar")
    assert code == 1
    assert "failed to get runtime base image options: failed to load runtime tarball: " in err


def test_a_file_in_another_directory_of_examples_gives_a_hint_to_name_that(run: Run, tmp_path: Path) -> None:
    examples = tmp_path / "package" / "examples"
    examples.mkdir(parents=True)
    (tmp_path / "package" / "crossplane.yaml").write_text(FUNCTION)
    (examples / "xr.yaml").write_text("apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: one}\n")
    words = ("build", "-f", "package", "-o", "x.xpkg")
    code, _, err = run(*words)
    assert code == 1
    assert f"--examples-root={examples}; by default" in err
    assert run(*words, f"--examples-root={examples}") == (0, "", "")
    # Other directories are no examples.
    examples.rename(tmp_path / "package" / "more")
    assert "--examples-root" not in run(*words)[2]


def saved(tmp_path: Path, form: str) -> str:
    """An image in a file, as other tools write it."""
    path = tmp_path / "image.tar"
    write_archive(image(archive([member("bin/run", b"1")])), str(path))
    if form.startswith("oci"):
        skopeo = [
            path_of("skopeo"),
            "copy",
            "-q",
            f"docker-archive:{path}",
            f"oci-archive:{tmp_path}/oci.tar",
        ]
        subprocess.run(skopeo, check=True)
        path = tmp_path / "oci.tar"
    if form.endswith(".gz"):
        (tmp_path / "image.tar.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / "image.tar.gz"
    if form.endswith(".zst"):
        (tmp_path / "image.tar.zst").write_bytes(in_zstd(path.read_bytes()))
        path = tmp_path / "image.tar.zst"
    return str(path)


@pytest.mark.parametrize("form", ["docker", "docker.gz", "docker.zst", "oci", "oci.gz"])
def test_a_runtime_is_embedded_from_every_form_of_image_tarball(run: Run, tmp_path: Path, form: str) -> None:
    if form.startswith("oci"):
        require("skopeo")
    (tmp_path / "crossplane.yaml").write_text(FUNCTION)
    words = ("build", "-o", "function.xpkg", "--embed-runtime-image-tarball")
    assert run(*words, saved(tmp_path, form)) == (0, "", "")
    package_image = read_archive(str(tmp_path / "function.xpkg"))
    (tmp_path / "root").mkdir()
    unpack(package_image, str(tmp_path / "root"))
    assert (tmp_path / "root/bin/run").read_bytes() == b"1"
    assert stream_of(package_image)


def test_the_two_flags_for_a_runtime_are_mutually_exclusive(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_text("")
    code, _, err = run("build", "--embed-runtime-image=x", "--embed-runtime-image-tarball=a.tar")
    assert code == 80
    assert "can't be used together" in err


def test_extracting_requires_a_package(run: Run, tmp_path: Path) -> None:
    code, out, err = run("extract")
    assert (code, last(err)) == (1, "must provide package tag if fetching from registry or daemon")
    assert (out, err.splitlines()[0][:28]) == ("", "Usage: crossply xpkg extract")
    for name in ("a.xpkg", "b.xpkg"):
        (tmp_path / name).write_text("")
    code, _, err = run("extract", "--from-xpkg")
    assert code == 1
    assert last(err).endswith("directory contains multiple compiled crossplane packages")
    assert "try: name one of a.xpkg, b.xpkg: crossply xpkg extract --from-xpkg FILE\n" in err
    code, _, err = run("push", "registry.test/acme/x:v1")
    assert code == 1
    assert "try: name one of a.xpkg, b.xpkg: crossply xpkg push -f FILE\n" in err


@needs("docker-registry")
@pytest.mark.xdist_group("registry")
def test_a_package_goes_through_a_registry_and_brings_its_runtime(
    run: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tmp_path / "crossplane.yaml").write_text(FUNCTION)
    with docker_registry(tmp_path_factory.mktemp("registry")) as address:
        assert run("build", "-o", "one.xpkg")[0] == 0
        assert run("push", f"{address}/acme/runtime:v1", "-f", "one.xpkg", "-a", "who=me") == (0, "", "")
        assert run("build", "-o", "two.xpkg", f"--embed-runtime-image={address}/acme/runtime:v1")[0] == 0
        assert run("push", f"{address}/acme/two:v1", "-f", "two.xpkg")[0] == 0
        code, _, err = run("extract", f"{address}/acme/two:v1")
        assert code == 1
        assert "multiple annotated base layers" in err, "a package cannot be the runtime of a package"
        assert run("extract", f"{address}/acme/runtime:v1", "-o", "r.gz") == (0, "", "")
    assert b"function-z" in gzip.decompress((tmp_path / "r.gz").read_bytes())


def test_a_private_package_gives_a_hint_to_log_in(run: Run) -> None:
    async def serve_and_ask() -> tuple[int, str, str]:
        async with ScriptedRegistry().running() as registry:
            registry.serve("/v2/acme/x/manifests/v1", status=401, WWW_Authenticate='Basic realm="x"')
            return await asyncio.to_thread(run, "extract", f"{registry.address}/acme/x:v1")

    code, _, err = asyncio.run(serve_and_ask())
    assert code == 1
    assert last(err).startswith("failed to fetch package from remote: GET http://127.0.0.1:")
    assert last(err).endswith("UNAUTHORIZED: authentication required")
    assert "try: log in to the registry with docker login" in err


@pytest.fixture
def template(tmp_path: Path) -> str:
    source = tmp_path / "template"
    source.mkdir()
    (source / "NOTES.txt").write_text("Read me.")
    (source / "init.sh").write_text('#!/bin/sh\necho "$1" > "$2/made"\n')
    (source / "init.sh").chmod(0o755)
    git = [path_of("git"), "-C", str(source), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "m"]):
        subprocess.run([*git, *words], check=True)
    return f"file://{source}"


def test_a_package_begins_from_a_template(run: Run, tmp_path: Path, template: str) -> None:
    code, out, _ = run("init", "function-z", template, "-d", "new", "--run-init-script")
    assert code == 0
    message = f'Initialized package "function-z" in directory "{tmp_path}/new"'
    assert out.startswith(f"{message} from {template}/tree/")
    assert "(main)\n\nRead me.\n" in out
    assert (tmp_path / "new" / "made").read_text() == "function-z\n"
    assert not (tmp_path / "new" / ".git").exists()
    code, _, err = run("init", "function-z", template, "-d", "new")
    assert code == 1
    assert "is not empty, contains existing files/directories: NOTES.txt, init.sh, made" in last(err)


def test_a_template_cannot_run_a_program_by_its_address(run: Run, tmp_path: Path) -> None:
    code, _, err = run("init", "x", f"ext::touch {tmp_path}/ran", "-d", "new")
    assert code == 1
    assert "failed to clone repository" in err
    assert not (tmp_path / "ran").exists()
    assert run("init", "x", "--upload-pack=touch ran", "-d", "new")[0] == 80
