"""Images of a shell and a script, for functions that run to completion, and of a shell alone."""

from __future__ import annotations

import functools

import pytest

from crossply.xpkg.image import EMPTY, Image, Layer, append
from crossply.xpkg.layer_writer import Entry, WrittenLayer, write_layer
from tests.support.programs import ENGINE, needs, path_of

needs_containers = [needs(ENGINE), pytest.mark.xdist_group("containers")]
"""Marks of tests that run images. Their files and registries are requested where they are used."""


def script_image(script: str, **config: object) -> Image:
    """An image that runs a script."""
    inner = {"Entrypoint": ["/bin/busybox", "sh", "/run"], "User": "2000:2000", **config}
    base = {**EMPTY.config, "architecture": "amd64", "os": "linux", "config": inner}
    written = write_layer([Entry("run", f"PATH=/bin\n{script}\n".encode(), 0o755)])
    image = append(EMPTY._replace(config=base), Layer(_shell().blob), _shell().diff_id)
    return append(image, Layer(written.blob), written.diff_id)


def shell_image() -> Image:
    """An image with a shell, a file, a variable, and an entry point that cannot be run."""
    inner = {"Entrypoint": ["/function"], "User": "2000:2000", "Env": ["FROM_IMAGE=yes", "PATH=/bin"]}
    base = {**EMPTY.config, "architecture": "amd64", "os": "linux", "config": inner}
    directory = Entry("etc/", mode=0o755, is_directory=True)
    written = write_layer(
        [Entry("bin/sh", link="busybox"), directory, Entry("etc/marker", b"of the image\n")]
    )
    image = append(EMPTY._replace(config=base), Layer(_shell().blob), _shell().diff_id)
    return append(image, Layer(written.blob), written.diff_id)


@functools.cache
def _shell() -> WrittenLayer:
    """The layer that all of them share."""
    with open(path_of("busybox"), "rb") as file:
        shell = file.read()
    return write_layer([Entry("bin/", mode=0o755, is_directory=True), Entry("bin/busybox", shell, 0o755)])
