"""KCL modules in registries."""

from __future__ import annotations

import io
import tarfile

from crossply.xpkg.blob_content import in_memory
from crossply.xpkg.image import Image, Layer
from tests.support.registry import pushed


def archive(files: dict[str, str], version: str = "") -> bytes:
    """A module as registries have it; `{0}` in its files is the version."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in files.items():
            data = text.replace("{0}", version).encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def push(registry: str, name: str, files: dict[str, str], version: str) -> str:
    """Push a module to a registry; the address of it, without the version."""
    image = Image({}, (Layer(in_memory(archive(files, version))),))
    pushed(registry, image, f"{name}:{version}")
    return f"oci://{registry}/{name}"
