"""Images, unpacked: each once, by its digest, for every process of this user.

Layers are unpacked into one root directory, which containers only read.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.packages.image import Image
from crossply.values import Object

DEFAULT_SIZE = 20 << 30


class StoredImage(NamedTuple):
    """An image that can be run."""

    digest: str
    directory: str
    """Of the store: the root file system is in `root` in it."""
    config: Object
    """The image's configuration."""


class Store:
    """The images below one directory, of at most so many bytes together; those not used for longest go."""

    def __init__(self, directory: str, most: int = DEFAULT_SIZE) -> None:
        self._directory = directory
        self._most = most

    def get(self, digest: str) -> StoredImage | None:
        """An image by its digest, if it is here."""
        raise NotImplementedError

    def add(self, image: Image, digest: str) -> StoredImage:
        """Unpack an image, unless it is here already."""
        raise NotImplementedError
