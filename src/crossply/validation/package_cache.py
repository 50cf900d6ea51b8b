"""The package cache of Crossplane's command line: `<cache>/<repository>@<version>/package.yaml`.

A package that is not in the cache is fetched from its registry, and is there from then on.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from crossply.errors import CrossplyError
from crossply.manifests.manifest import Manifest, read_directory
from crossply.values import Object


class NotCachedError(CrossplyError):
    """The schemas of a package are needed, are not in the cache directory, and cannot be fetched."""

    code = "CP-561"


class Cache:
    """The packages below a cache directory; `fetch` gives the stream of one that is not there."""

    def __init__(self, directory: str, fetch: Callable[[str], bytes]) -> None:
        self._directory = directory
        self._fetch = fetch

    def clean(self) -> None:
        """Remove every package."""
        import shutil

        shutil.rmtree(self._directory, ignore_errors=True)

    def has(self, image: str) -> bool:
        """Return whether a package is there."""
        return os.path.isdir(self._path(image))

    def load(self, image: str) -> list[Manifest]:
        """Read the objects of a package."""
        if not self.has(image):
            self._download(image)
        return read_directory(self._path(image))

    def refresh(self, image: str) -> None:
        """Fetch a package again; the cached one stays if that fails."""
        self._download(image)

    def _download(self, image: str) -> None:
        """Fetch a package; it is in the cache as a whole, or not at all."""
        import shutil

        path = self._path(image)
        try:
            stream = self._fetch(image)
            os.makedirs(f"{path}.part", exist_ok=True)
            with open(os.path.join(f"{path}.part", "package.yaml"), "wb") as file:
                file.write(stream)
            shutil.rmtree(path, ignore_errors=True)
            os.rename(f"{path}.part", path)
        except (CrossplyError, OSError) as problem:
            advice = f"{problem.hint}; or " if isinstance(problem, CrossplyError) and problem.hint else ""
            raise NotCachedError(
                f"cannot cache package dependencies: cannot download package {image}: {problem}",
                hint=f"{advice}put its package.yaml into {path}",
            ) from None

    def configuration(self, image: str) -> Object:
        """Read the metadata of a configuration package."""
        for manifest in self.load(image):
            if manifest.group_kind == ("meta.pkg.crossplane.io", "Configuration"):
                return manifest.value
        raise NotCachedError(f"cannot add package dependencies: package {image} is not a Configuration")

    def _path(self, image: str) -> str:
        inside = os.path.normpath("/" + image.replace(":", "@")).lstrip("/")
        return os.path.join(self._directory, inside)
