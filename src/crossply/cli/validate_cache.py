"""Packages on disk: `<cache>/<repository>@<version>/package.yaml`, as Crossplane's command line keeps them.

Nothing is downloaded here; a package that is not in the cache is an error that says where to put it.
"""

from __future__ import annotations

import os

from crossply.cli.validate_sources import Manifest, read_directory
from crossply.errors import CrossplyError
from crossply.values import Object


class NotCachedError(CrossplyError):
    """The schemas of a package are needed and are not in the cache directory."""

    code = "CP-561"


class Cache:
    """The packages below a cache directory."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def clean(self) -> None:
        """Remove every package."""
        import shutil

        shutil.rmtree(self._directory, ignore_errors=True)

    def has(self, image: str) -> bool:
        """Tell whether a package is there."""
        return os.path.isdir(self._path(image))

    def load(self, image: str) -> list[Manifest]:
        """Read the objects of a package."""
        if not self.has(image):
            raise NotCachedError(
                f"cannot cache package dependencies: cannot download package {image}",
                hint=f"downloading is not there yet: put the package's package.yaml into {self._path(image)}",
            )
        return read_directory(self._path(image))

    def configuration(self, image: str) -> Object:
        """Read the metadata of a configuration package."""
        for manifest in self.load(image):
            if manifest.group_kind == ("meta.pkg.crossplane.io", "Configuration"):
                return manifest.value
        raise NotCachedError(f"cannot add package dependencies: package {image} is not a Configuration")

    def _path(self, image: str) -> str:
        inside = os.path.normpath("/" + image.replace(":", "@")).lstrip("/")
        return os.path.join(self._directory, inside)
