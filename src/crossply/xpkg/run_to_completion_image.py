"""The runtime of a function that is any program: it reads a request on stdin and writes a response on stdout.

The image comes from `docker save`. It gets a label that says how it is run.
"""

from __future__ import annotations

import os
import tempfile
import zlib

from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.blob_content import CHUNK
from crossply.xpkg.decompression import uncompressed
from crossply.xpkg.failures import BadArchive, TooLarge
from crossply.xpkg.image import Image

LABEL, RUNS_TO_COMPLETION = "dev.crossply.runtime", "run-to-completion"
"""The label of the image, and the annotation of the package, which its revision gets."""
_LARGEST = 8 << 30


def from_tarball(path: str, directory: str) -> Image:
    """The image in a tarball, which may be compressed; it is uncompressed into a directory."""
    image = read_archive(plain_tarball(path, directory))
    if not image.inner.get("Entrypoint") and not image.inner.get("Cmd"):
        raise BadArchive("the image does not say what to run", hint="give it an ENTRYPOINT")
    labels = {**image.labels, LABEL: RUNS_TO_COMPLETION}
    inner = {**image.inner, "Labels": dict(sorted(labels.items()))}
    return image._replace(config={**image.config, "config": inner})


def plain_tarball(path: str, directory: str) -> str:
    """The path of a tarball; of one that is compressed, that of an uncompressed copy in a directory."""
    with open(path, "rb") as file, uncompressed(file) as plain:
        if plain is file:
            return path
        descriptor, target = tempfile.mkstemp(dir=directory)
        left = _LARGEST
        with os.fdopen(descriptor, "wb") as written:
            try:
                while chunk := plain.read(CHUNK):
                    left -= len(chunk)
                    if left < 0:
                        raise TooLarge(f"{path} is larger than {_LARGEST} bytes when it is uncompressed")
                    written.write(chunk)
            except (EOFError, OSError, zlib.error) as problem:
                raise BadArchive(f"cannot uncompress it: {problem}", place=path) from None
    return target
