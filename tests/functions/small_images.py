"""Images of two files, a shell and a script: functions that run to completion."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

import pytest
from tests.packages import peers

from crossply.containers.engine import engine_installed
from crossply.packages.image import EMPTY, Image, Layer, append
from crossply.packages.layer_writing import Entry, Written, write_layer

SHELL = shutil.which("busybox") or ""


def _is_static(program: str) -> bool:
    return bool(program) and subprocess.run(["ldd", program], capture_output=True).returncode != 0


needs_containers = [
    pytest.mark.skipif(not engine_installed(os.environ), reason="no container engine: install crun or runc"),
    pytest.mark.skipif(not _is_static(SHELL), reason="no shell to put into images: install busybox-static"),
    pytest.mark.skipif(peers.PROGRAM is None, reason="no registry: install docker-registry"),
    pytest.mark.xdist_group("containers"),
]
"""Marks of tests that run images which they pull."""


def script_image(script: str, **config: object) -> Image:
    """An image that runs a script."""
    inner = {"Entrypoint": ["/bin/busybox", "sh", "/run"], "User": "2000:2000", **config}
    base = {**EMPTY.config, "architecture": "amd64", "os": "linux", "config": inner}
    written = write_layer([Entry("run", f"PATH=/bin\n{script}\n".encode(), 0o755)])
    image = append(EMPTY._replace(config=base), Layer(_shell().blob), _shell().diff_id)
    return append(image, Layer(written.blob), written.diff_id)


@functools.cache
def _shell() -> Written:
    """The layer that all of them share."""
    with open(SHELL, "rb") as file:
        shell = file.read()
    return write_layer([Entry("bin/", mode=0o755, is_directory=True), Entry("bin/busybox", shell, 0o755)])
