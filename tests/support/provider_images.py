"""A provider package around a static Go program, in an image that is built here."""

from __future__ import annotations

import functools
import os
import subprocess

import pytest

from crossply.values import Object
from crossply.values.yaml import dump
from crossply.xpkg.image import Image
from crossply.xpkg.package_build import pack
from crossply.xpkg.package_directory import Directory, File
from tests.support.images import archive, image, member
from tests.support.paths import CACHE, TESTS
from tests.support.programs import path_of

SOURCE = TESTS / "containers" / "provider"
BUILT = CACHE / "containers" / "provider"


@functools.cache
def program() -> bytes:
    """The provider, built once and cached until its source changes."""
    newest = max(path.stat().st_mtime for path in SOURCE.iterdir())
    if not BUILT.exists() or BUILT.stat().st_mtime < newest:
        go = path_of("go")
        BUILT.parent.mkdir(parents=True, exist_ok=True)
        new = BUILT.with_suffix(f".{os.getpid()}")
        environ = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
        command = [go, "build", "-trimpath", "-ldflags=-s -w", "-o", str(new), "."]
        done = subprocess.run(command, cwd=SOURCE, env=environ, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"NOT TESTED IN CONTAINERS: Go cannot build the provider: {done.stderr[-300:]}")
        os.replace(new, BUILT)
    return BUILT.read_bytes()


def provider_image(*objects: Object, name: str = "provider-try") -> Image:
    """The package of a provider with these objects; its image runs it."""
    meta = {
        "apiVersion": "meta.pkg.crossplane.io/v1",
        "kind": "Provider",
        "metadata": {"name": name},
        "spec": {},
    }
    files = [File(f"{number}.yaml", dump(obj).encode()) for number, obj in enumerate((meta, *objects))]
    base = image(archive([member("provider", program(), mode=0o755)]))
    inner = {"Entrypoint": ["/provider"], "User": "65532"}
    base = base._replace(config={**base.config, "config": inner})
    return pack(Directory(tuple(files)), None).onto(base)
