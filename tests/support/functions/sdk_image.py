"""An image of a function that is written with the published SDK, built from its project as a user would.

Building it takes pip and a minute, so it is cached until its sources change.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

from crossply.containers.image_store import Store, StoredImage
from crossply.values.digest import sha256_hex
from crossply.xpkg import python_project_image
from crossply.xpkg.blob_content import digest_of, in_memory
from crossply.xpkg.image import EMPTY, Image, Layer, digest
from crossply.xpkg.python_install import PipFailed
from tests.support.interpreter_image import _shared_libraries, included
from tests.support.paths import CACHE, TESTS

BUILT = CACHE / "containers"

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "function-greet"
version = "0.1.0"
dependencies = ["crossplane-function-sdk-python"]
[project.scripts]
function = "greet.main:cli"
[tool.hatch.build.targets.wheel]
packages = ["greet"]
"""
MAIN = """\
import click
from crossplane.function import runtime
from greet.fn import Greeter

@click.command()
@click.option("--address", default="0.0.0.0:9443")
@click.option("--tls-certs-dir", envvar="TLS_SERVER_CERTS_DIR")
@click.option("--insecure", is_flag=True)
def cli(address, tls_certs_dir, insecure):
    certificates = runtime.load_credentials(tls_certs_dir) if tls_certs_dir else None
    runtime.serve(Greeter(), address, creds=certificates, insecure=insecure)
"""


def sdk_image(directory: Path) -> StoredImage:
    """The image, in a store; built in a directory if need be."""
    store = Store(str(BUILT / "sdk"))
    source = (TESTS / "functions" / "sdk" / "greeter.py").read_text().partition("\nif __name__")[0]
    builder = Path(python_project_image.__file__).read_text()
    known = BUILT / f"sdk-{sha256_hex(f'{source}{PROJECT}{MAIN}{builder}{sys.version}'.encode())[:16]}"
    cached = store.get(known.read_text()) if known.exists() else None
    if cached is not None:
        return cached
    image = _built(directory, source)
    stored = store.add(image, digest(image))
    known.write_text(stored.digest)
    return stored


def _built(directory: Path, source: str) -> Image:
    (directory / "greet").mkdir()
    files = {"pyproject.toml": PROJECT, "greet/__init__.py": "", "greet/fn.py": source, "greet/main.py": MAIN}
    for name, text in files.items():
        (directory / name).write_text(text)
    try:
        return python_project_image.with_project(_python(), str(directory))
    except PipFailed as problem:
        pytest.skip(f"NOT TESTED WITH AN IMAGE OF THE PUBLISHED SDK: {problem}")


def _python() -> Image:
    """An image of this very interpreter."""
    program, library = os.path.realpath(sys.executable), sysconfig.get_path("stdlib")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(library, filter=included)
        archive.add(program)
        for path in _shared_libraries(Path(library)):
            archive.add(os.path.realpath(path), arcname=path)
        if not program.endswith("/python3"):
            link = tarfile.TarInfo(f"{os.path.dirname(program)[1:]}/python3")
            link.type, link.linkname = tarfile.SYMTYPE, os.path.basename(program)
            archive.addfile(link)
    plain = buffer.getvalue()
    config = {
        **EMPTY.config,
        "os": "linux",
        "architecture": "amd64",
        "rootfs": {"type": "layers", "diff_ids": [digest_of(plain)]},
        "config": {"Env": [f"PATH={os.path.dirname(program)}"]},
    }
    return Image(config, (Layer(in_memory(gzip.compress(plain, 1))),))
