"""Images to run: around a static Go program that no library of ours is in."""

from __future__ import annotations

import functools
import io
import os
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

from crossply.xpkg.image import Image
from tests.support.images import archive, image, member
from tests.support.interpreter_image import _shared_libraries, included
from tests.support.paths import CACHE, TESTS
from tests.support.programs import path_of

SOURCE = TESTS / "containers" / "function"
BUILT = CACHE / "containers" / "function"


@functools.cache
def program() -> bytes:
    """The Go function, built once and cached until its source changes."""
    newest = max(path.stat().st_mtime for path in SOURCE.iterdir())
    if not BUILT.exists() or BUILT.stat().st_mtime < newest:
        _build()
    return BUILT.read_bytes()


def _build() -> None:
    go = path_of("go")
    BUILT.parent.mkdir(parents=True, exist_ok=True)
    new = BUILT.with_suffix(f".{os.getpid()}")
    command = [go, "build", "-trimpath", "-ldflags=-s -w", "-o", str(new), "."]
    environ = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
    done = subprocess.run(command, cwd=SOURCE, env=environ, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"NOT TESTED IN CONTAINERS: Go cannot build the function: {done.stderr[-300:]}")
    os.replace(new, BUILT)


@functools.cache
def with_program(path: str = "function") -> Image:
    """An image of nothing but the Go function; to compress it takes a while."""
    return image(archive([member(path, program(), mode=0o755)]))


def go_image(user: str = "65532", **config: object) -> Image:
    """The Go function as an image that can be run."""
    result = with_program()
    inner = {"Entrypoint": ["/function"], "User": user, **config}
    return result._replace(config={**result.config, "config": inner})


def python_image() -> Image:
    """An image with this very Python, as the base of functions."""
    buffer, library = io.BytesIO(), sysconfig.get_path("stdlib")
    executable = os.path.realpath(sys.executable)
    with tarfile.open(fileobj=buffer, mode="w") as files:
        files.add(library, filter=included)
        files.add(executable)
        for path in _shared_libraries(Path(library)):
            files.add(os.path.realpath(path), arcname=path)
        files.addfile(*link("usr/bin/python3", executable))
    result = image(buffer.getvalue())
    return result._replace(config={**result.config, "config": {"Env": ["PATH=/usr/bin"]}})


def link(name: str, target: str) -> tuple[tarfile.TarInfo, None]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info, None
