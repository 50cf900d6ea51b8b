"""Fetches the dependencies of a project: packages with their dependencies, and CRDs from elsewhere.

Packages are in the cache that `validate` and `xpkg get-crds` use, too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.kinds.project import XPKG, Project
from crossply.project.dependency_entries import ProjectDependencyError
from crossply.project.remote_crds import NOBODY, GitLogin, from_git, from_url
from crossply.validation.extension_schemas import Extensions, complete
from crossply.validation.package_cache import Cache
from crossply.values import Object
from crossply.values.api_version import split_api_version
from crossply.xpkg.user_image_pull import RegistryUser, error_prefix

if TYPE_CHECKING:
    from crossply.xpkg.dependencies import Dependency

_DEFAULT_CACHE = "~/.crossplane/cache"
_META_GROUP = "meta.pkg.crossplane.io"


def cache_directory(path: str | None) -> str:
    """The directory of cached packages: this one, or the one that Crossplane's commands use."""
    return os.path.abspath(os.path.expanduser(path or _DEFAULT_CACHE))


class DependencyFetcher:
    """Fetches dependencies for one command, each package once."""

    def __init__(
        self, user: RegistryUser, project: Project, cache: str | None, *, anew: bool, login: GitLogin = NOBODY
    ) -> None:
        self._user = user
        self._image_configs = project.spec.get("imageConfigs") or ()
        self._cache = Cache(cache_directory(cache), self._download)
        self._anew = anew
        self._login = login
        self._metas: dict[str, Object] = {}
        self._extensions = Extensions()

    @property
    def crds(self) -> list[Object]:
        """The CRDs of all that was added, each kind once."""
        crds: dict[tuple[str, str], Object] = {}
        for crd in self._extensions.crds:
            spec = complete(crd)["spec"]
            crds.setdefault((spec["group"], spec["names"]["kind"]), crd)
        return list(crds.values())

    def add(self, entry: Object) -> Object:
        """Fetch a dependency and return its completed entry."""
        if entry.get(XPKG):
            return {**entry, XPKG: self._add_package(entry[XPKG])}
        if entry.get("git"):
            self._extensions.add(from_git(entry["git"], self._login, self._user.environ))
        elif entry.get("http"):
            self._extensions.add(from_url(entry["http"]["url"]))
        return entry

    def _download(self, image: str) -> bytes:
        from crossply.xpkg.user_image_pull import package_stream

        return package_stream(self._user, self._rewritten(image))

    def _rewritten(self, image: str) -> str:
        """Where an image is fetched from: the project may say that it is mirrored."""
        from crossply.xpkg.image_config_selection import rewritten

        return rewritten(self._image_configs, image)[0]

    def _add_package(self, package: Object) -> Object:
        from crossply.xpkg.dependencies import Dependency, dependencies_of

        meta = self._fetch(Dependency(package["package"], package["version"]))
        waiting = [(dependency, package["package"]) for dependency in reversed(dependencies_of(meta))]
        visited: set[Dependency] = set()
        while waiting:
            dependency, by = waiting.pop()
            if dependency not in visited:
                visited.add(dependency)
                with error_prefix(f"cannot add transitive dependency {dependency.source} of {by}"):
                    below = self._fetch(dependency)
                waiting += [(child, dependency.source) for child in reversed(dependencies_of(below))]
        group, version = split_api_version(str(meta["apiVersion"]))
        return {"apiVersion": f"{group.removeprefix('meta.')}/{version}", "kind": meta["kind"], **package}

    def _fetch(self, dependency: Dependency) -> Object:
        """The object that describes a package; what the package defines is taken."""
        image = self._image(dependency)
        if image in self._metas:
            return self._metas[image]
        if self._anew:
            self._cache.refresh(image)
        manifests = self._cache.load(image)
        metas = [manifest.value for manifest in manifests if manifest.group_kind[0] == _META_GROUP]
        if not metas:
            raise ProjectDependencyError(
                f"cannot identify package {image}: it has no metadata", hint="name a package of Crossplane"
            )
        with error_prefix(f"cannot extract CRDs from {image}"):
            self._extensions.add(manifests)
        self._metas[image] = metas[0]
        return metas[0]

    def _image(self, dependency: Dependency) -> str:
        """The image that a version stands for: a digest, a tag, or the best that a constraint allows."""
        from crossply.values.semver_constraints import is_constraint
        from crossply.xpkg.user_image_pull import best_tag

        if dependency.digest:
            return f"{dependency.source}@{dependency.digest}"
        tag = dependency.constraint
        if is_constraint(tag):
            with error_prefix(f"cannot resolve {dependency.source}:{tag}"):
                tag = best_tag(self._user, self._rewritten(dependency.source), tag)
        return f"{dependency.source}:{tag}" if tag else dependency.source
