"""Images of two files, a shell and a script: functions that run to completion."""

from __future__ import annotations

import functools

import pytest

from crossply.xpkg.image import EMPTY, Image, Layer, append
from crossply.xpkg.layer_writer import Entry, WrittenLayer, write_layer
from tests.support.programs import ENGINE, needs, path_of

needs_containers = [needs(ENGINE), pytest.mark.xdist_group("containers")]
"""Marks of tests that run images. What images are made of and pulled from is asked for where it is used."""


def script_image(script: str, **config: object) -> Image:
    """An image that runs a script."""
    inner = {"Entrypoint": ["/bin/busybox", "sh", "/run"], "User": "2000:2000", **config}
    base = {**EMPTY.config, "architecture": "amd64", "os": "linux", "config": inner}
    written = write_layer([Entry("run", f"PATH=/bin\n{script}\n".encode(), 0o755)])
    image = append(EMPTY._replace(config=base), Layer(_shell().blob), _shell().diff_id)
    return append(image, Layer(written.blob), written.diff_id)


@functools.cache
def _shell() -> WrittenLayer:
    """The layer that all of them share."""
    with open(path_of("busybox"), "rb") as file:
        shell = file.read()
    return write_layer([Entry("bin/", mode=0o755, is_directory=True), Entry("bin/busybox", shell, 0o755)])
