"""An image with Python, as a registry of a user has one."""

from __future__ import annotations

import gzip
import io
import os
import platform
import sys
import tarfile

from crossply.xpkg.blob_content import digest_of, in_memory
from crossply.xpkg.image import EMPTY, Image, Layer
from tests.support.interpreter_image import add_interpreter


def python_image() -> Image:
    """An image with this very interpreter as python3."""
    buffer = io.BytesIO()
    executable = os.path.realpath(sys.executable)
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        add_interpreter(archive)
        link = tarfile.TarInfo("usr/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, executable
        archive.addfile(link)
    # Compressed in a hurry: the tutorial waits for it.
    layer = Layer(in_memory(gzip.compress(buffer.getvalue(), 1, mtime=0)))
    config = {"Env": ["PATH=/usr/bin:/bin"]}
    rootfs = {"type": "layers", "diff_ids": [digest_of(buffer.getvalue())]}
    architecture = "arm64" if platform.machine() == "aarch64" else "amd64"
    config_file = {"os": "linux", "architecture": architecture, "rootfs": rootfs, "config": config}
    return Image({**EMPTY.config, **config_file}, (layer,))
