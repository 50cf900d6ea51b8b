"""Packages of real providers in Go, in a registry: built once, by tests/providers/build.sh, in .cache."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.image import Image
from tests.support.cli.up_process import crossply
from tests.support.images import archive, image, member
from tests.support.paths import ROOT

BUILD = ROOT / "tests" / "providers" / "build.sh"
SMALL = ROOT / "tests" / "providers" / "go"
SMALL_WEBHOOKS = "package/webhooks.yaml"
NO_GO = 3


def built_programs() -> pathlib.Path:
    """The directory of the programs; skips where they would have to be built and there is no Go."""
    done = subprocess.run([str(BUILD), "published"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == NO_GO:
        pytest.skip("NOT TESTED WITH REAL PROVIDERS: there is no Go to build them with")
    assert done.returncode == 0
    return pathlib.Path(done.stdout.strip())


def runtime_image(program: pathlib.Path) -> Image:
    """An image of nothing but a static program."""
    result = image(archive([member("provider", program.read_bytes(), mode=0o755)]))
    config = {"Entrypoint": ["/provider"], "User": "65532"}
    return result._replace(config={**result.config, "config": config})


def small_package(root: pathlib.Path, description: str) -> None:
    """The files of our own provider's package."""
    shutil.copytree(SMALL / "package", root / "package")
    shutil.copy(SMALL / "crossplane.yaml", root)
    roles = root / "package" / "crds" / "small.example.org_roles.yaml"
    text = roles.read_text().replace(
        "      openAPIV3Schema:\n", f"      openAPIV3Schema:\n        description: {description}\n"
    )
    roles.write_text(text)


def published_package(root: pathlib.Path, programs: pathlib.Path) -> None:
    """The files of the published provider's package."""
    shutil.copytree(programs / "package", root, dirs_exist_ok=True)


def push_package(root: pathlib.Path, program: pathlib.Path, reference: str) -> None:
    """Build and push a package as users do."""
    tarball, package = root.with_suffix(".tar"), root.with_suffix(".xpkg")
    write_archive(runtime_image(program), str(tarball))
    for words in (
        (
            "build",
            f"--package-root={root}",
            f"--embed-runtime-image-tarball={tarball}",
            f"--package-file={package}",
        ),
        ("push", f"--package-files={package}", reference),
    ):
        done = crossply("xpkg", *words)
        assert done.returncode == 0, done.stderr
