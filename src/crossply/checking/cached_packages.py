"""The packages that a unit depends on, as far as they are in the cache; nothing is fetched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NoReturn

from crossply.checking.finding import CheckError, Finding, Place, warning
from crossply.checking.repository_files import Unit
from crossply.errors import CrossplyError
from crossply.kinds.project import XPKG
from crossply.manifests.manifest import Manifest
from crossply.validation.extension_schemas import Extensions
from crossply.validation.package_cache import Cache, NotCachedError
from crossply.values import Object
from crossply.values.semver import InvalidVersion, parse
from crossply.xpkg.dependencies import Dependency, dependencies_of

_META = "meta.pkg.crossplane.io"
_PACKAGES = ("Provider", "Configuration")
"""Packages that define kinds of resources; those of Functions define only inputs."""


class NotCached(CheckError):
    """The kinds of a package are not known, since the package is not in the cache."""

    code = "CP-557"


def required_packages(unit: Unit) -> list[Dependency]:
    """The packages that a unit depends on, or has installed: providers, functions, configurations."""
    dependencies: dict[str, Dependency] = {}
    if unit.project is not None:
        for entry in unit.project.project.dependencies:
            if entry.get(XPKG):
                package = entry[XPKG]
                dependency = Dependency(package["package"], package["version"], package.get("kind") or "")
                dependencies.setdefault(dependency.source, dependency)
    for manifest in unit.all_manifests:
        for dependency in _named_by(manifest):
            dependencies.setdefault(dependency.source, dependency)
    return list(dependencies.values())


def _named_by(manifest: Manifest) -> Iterable[Dependency]:
    group, kind = manifest.group_kind
    spec = manifest.value.get("spec")
    if not isinstance(spec, dict):
        return []
    if (group, kind) == (_META, "Configuration"):
        try:
            return dependencies_of(manifest.value)
        except (CrossplyError, AttributeError, TypeError):
            return []  # what is wrong with it is said where the package is checked
    if group == "pkg.crossplane.io" and kind in _PACKAGES and isinstance(spec.get("package"), str):
        source, separator, version = spec["package"].rpartition(":")
        return [Dependency(source if separator else version, version if separator else "", kind)]
    return []


class CachedPackages:
    """What packages in a cache directory define, with the packages that they depend on."""

    def __init__(self, directory: str, dependencies: Iterable[Dependency]) -> None:
        self._directory = directory
        self._cache = Cache(directory, _refuse)
        self._dependencies = [dependency for dependency in dependencies if dependency.kind != "Function"]
        self.absent: list[Dependency] = []
        """Packages that were needed and are not there, once `crds` was called."""

    def crds(self) -> list[Object]:
        """The CRDs of all packages that are in the cache."""
        extensions = Extensions()
        waiting, visited = list(self._dependencies), set()
        while waiting:
            dependency = waiting.pop()
            if dependency.source in visited or dependency.kind == "Function":
                continue
            visited.add(dependency.source)
            image = self._image(dependency)
            if image is None:
                self.absent.append(dependency)
                continue
            manifests = self._cache.load(image)
            extensions.add(manifests)
            for manifest in manifests:
                if manifest.group_kind[0] == _META:
                    waiting += dependencies_of(manifest.value)
        return extensions.crds

    def _image(self, dependency: Dependency) -> str | None:
        """The newest cached image that a dependency accepts."""
        exact = f"{dependency.source}{'@' if dependency.digest else ':'}{dependency.constraint}"
        if dependency.constraint and self._cache.has(exact):
            return exact
        versions = [version for version in self._versions(dependency.source) if dependency.accepts(version)]
        if not versions:
            return None
        return f"{dependency.source}:{max(versions, key=_order)}"

    def _versions(self, source: str) -> Iterator[str]:
        folder, name = os.path.split(os.path.join(self._directory, source))
        for entry in os.listdir(folder) if os.path.isdir(folder) else ():
            if entry.startswith(f"{name}@") and not entry.endswith(".part"):
                yield entry[len(name) + 1 :]

    def findings(self, place: Place, advice: str) -> Iterator[Finding]:
        """A warning for each package whose kinds were needed and are not known."""
        for dependency in sorted(self.absent):
            problem = NotCached(
                f"the kinds of {dependency.source} {dependency.constraint}".rstrip()
                + " are not known: it is not in the cache, so fields of its resources are not checked",
                hint=advice,
            )
            yield warning(problem, place)


def _order(version: str) -> tuple[int, int, int, str]:
    try:
        parsed = parse(version)
    except InvalidVersion:
        return -1, 0, 0, version
    return parsed.major, parsed.minor, parsed.patch, str(parsed.prerelease)


def _refuse(image: str) -> NoReturn:
    raise NotCachedError(f"{image} is not in the cache")
