"""The Lock: which packages are installed in which versions, with their dependencies.

Every active revision has an entry. Whether its dependencies are present is decided on the entries of all.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import NamedTuple

from crossply.compose.object_metadata import name_of
from crossply.control.controller_context import Plane
from crossply.control.kinds import LOCK
from crossply.control.package_manager.package_fetcher import source_and_version
from crossply.kube.failures import AlreadyExists
from crossply.values import Object
from crossply.xpkg.dependencies import (
    Dependency,
    DependencyError,
    Locked,
    below,
    check_number,
    dependencies_of,
    missing,
    missing_error,
    read_lock,
    unmet,
    unmet_error,
)
from crossply.xpkg.dependents_tree import why

NAME = "lock"
API_VERSION = "pkg.crossplane.io/v1"
_MAX_LINES = 12


class DependencyStatus(NamedTuple):
    """How many packages a revision needs, how many of them are there, and how many in wrong versions."""

    found: int = 0
    installed: int = 0
    invalid: int = 0
    problem: DependencyError | None = None


class PackageLock:
    """Keeps the entries of revisions in the Lock."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._turn = asyncio.Lock()

    async def enter(self, revision: Object, kind: str, meta: Object) -> DependencyStatus:
        """Add a revision to the Lock; returns the state of its dependencies."""
        dependencies = dependencies_of(meta)
        check_number(dependencies)
        async with self._turn:
            lock = await self._get()
            entry = _entry(revision, kind, dependencies)
            packages = {package["name"]: package for package in lock.get("packages") or ()}
            before = packages.get(entry["name"])
            if before != entry:
                packages[entry["name"]] = entry
                lock = await self._plane.as_installer.update(LOCK, {**lock, "packages": [*packages.values()]})
        is_new = before is None or before.get("source") != entry["source"]
        return standing(read_lock(lock), entry["name"], is_new)

    async def leave(self, name: str) -> None:
        """Have a revision in the Lock no longer."""
        async with self._turn:
            lock = await self._plane.as_controller.get(LOCK, NAME)
            packages = (lock or {}).get("packages") or []
            left = [package for package in packages if package.get("name") != name]
            if lock is not None and len(left) < len(packages):
                await self._plane.as_installer.update(LOCK, {**lock, "packages": left})

    async def _get(self) -> Object:
        lock = await self._plane.as_controller.get(LOCK, NAME)
        if lock is not None:
            return lock
        body = {"apiVersion": LOCK.api_version, "kind": LOCK.kind, "metadata": {"name": NAME}}
        with suppress(AlreadyExists):
            return await self._plane.as_installer.create(LOCK, body)
        return await self._get()


def _entry(revision: Object, kind: str, dependencies: tuple[Dependency, ...]) -> Object:
    source, version = source_and_version(revision["spec"]["image"])
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name_of(revision),
        "source": source,
        "version": version,
        "dependencies": [
            {
                "apiVersion": API_VERSION,
                "kind": dependency.kind,
                "package": dependency.source,
                "constraints": dependency.constraint,
            }
            for dependency in dependencies
        ],
    }


def standing(packages: list[Locked], name: str, is_new: bool) -> DependencyStatus:
    """How a revision that is in the Lock stands, which may have been entered just now."""
    own = next(package for package in packages if package.name == name)
    present = {package.source for package in packages}
    if is_new:
        direct = dict.fromkeys(package.source for package in own.dependencies)
        absent = [package for package in own.dependencies if package.source not in present]
        if absent:
            installed = sum(package in present for package in direct)
            return DependencyStatus(len(direct), installed, 0, missing_error(absent))
    tree = frozenset(below(packages, own.source))
    implied = [package for package in missing(packages) if package.source in tree]
    status = DependencyStatus(len(tree), len(tree) - len(implied))
    if implied:
        return status._replace(problem=missing_error(implied))
    wrong = unmet(packages, own)
    if not wrong:
        return status
    return status._replace(invalid=len(wrong), problem=_explained(unmet_error(wrong), packages, wrong))


def _explained(
    problem: DependencyError, packages: list[Locked], wrong: list[tuple[Dependency, Locked]]
) -> DependencyError:
    """The problem, with the tree of dependents."""
    lines: list[str] = []
    for dependency, _ in wrong:
        if len(lines) >= _MAX_LINES:
            lines = [*lines[:_MAX_LINES], "…"]
            break
        lines += why(packages, dependency.source)
    return problem.replace(message="\n".join([str(problem), *lines]))
