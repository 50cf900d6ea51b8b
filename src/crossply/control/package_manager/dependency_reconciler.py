"""Installs missing dependencies of packages, in versions that all dependents accept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

import orjson

from crossply.compose.conditions import with_conditions
from crossply.compose.events import StatusCondition
from crossply.control.controller_context import Plane
from crossply.control.kinds import CONFIGURATION, FUNCTION, IMAGE_CONFIG, LOCK, PROVIDER
from crossply.control.package_manager.package_fetcher import PackageFetcher, source_and_version
from crossply.errors import CrossplyError
from crossply.functions import builtin
from crossply.kube.controller import Requeue
from crossply.kube.failures import AlreadyExists
from crossply.kube.finalizers import add_finalizer, remove_finalizer
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.xpkg.address_guard import host_of, is_public_host
from crossply.xpkg.dependencies import (
    Dependency,
    DependencyError,
    Locked,
    best_version,
    check_no_circle,
    limit_error,
    missing,
    read_lock,
    within_limits,
)
from crossply.xpkg.dependents_tree import why
from crossply.xpkg.dns_names import to_dns_label
from crossply.xpkg.image_config_selection import prefixes
from crossply.xpkg.image_reference import parse

FINALIZER = "lock.pkg.crossplane.io"
MANAGER = "pkg.crossplane.io/resolver"
RESOLVED = StatusCondition("Resolved", "True", "DependencyResolutionSucceeded")
UNRESOLVED = StatusCondition("Resolved", "False", "DependencyResolutionFailed")
AT_A_TIME, SOON = 25, 1.0
"""So many dependencies are installed at a time, and after so many seconds more."""
_KINDS = {kind.kind: kind for kind in (FUNCTION, CONFIGURATION, PROVIDER)}
_VERSION = re.compile(r"v?\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,64})?")
_MAX_LISTED, _AT_ONCE = 5, 5
_MAX_LINES = 12
Present = dict[tuple[str, str], str]
"""The sources of packages, by their kinds and names."""


class DependencyReconciler:
    """Installs what the packages of the Lock want."""

    def __init__(self, plane: Plane, fetching: PackageFetcher) -> None:
        self._plane, self._fetcher = plane, fetching
        self._attempts: dict[str, int] = {}
        """How often each missing package was tried."""
        self._failed: dict[str, str] = {}
        """Why some of them could not be installed."""

    def missing_sources(self) -> list[str]:
        """The sources of packages that the Lock lacked when it was last reconciled."""
        return list(self._attempts)

    async def reconcile(self, name: str) -> Requeue | None:
        """Install what is missing in the Lock."""
        lock = await self._plane.as_controller.get(LOCK, name)
        if lock is None:
            return None
        packages = read_lock(lock)
        write = add_finalizer if packages else remove_finalizer
        lock = await write(self._plane.as_installer, LOCK, lock, FINALIZER, MANAGER)
        if not packages:
            await self._report(lock, None)
            return None
        try:
            check_no_circle(packages)
        except DependencyError as problem:
            # Only another Lock can help, and that triggers a reconcile.
            await self._report(lock, UNRESOLVED._replace(message=f"{problem} ({problem.hint})"))
            return None
        more = await self._install(packages)
        if not self._failed:
            await self._report(lock, RESOLVED)
            return Requeue(SOON) if more else None
        # Always the same of many failures: each change of the message triggers a reconcile.
        failures = "; ".join(self._failed[source] for source in sorted(self._failed)[:_MAX_LISTED])
        await self._report(lock, UNRESOLVED._replace(message=failures))
        raise DependencyError(failures)

    async def _report(self, lock: Object, condition: StatusCondition | None) -> None:
        status = lock.get("status") or {}
        new_status: Object = {key: value for key, value in status.items() if key != "conditions"}
        if condition is not None:
            new_status = with_conditions(lock, (condition,), self._plane.now())["status"]
        if new_status != status:
            await self._plane.as_installer.update_status(LOCK, {**lock, "status": new_status}, MANAGER)

    async def _install(self, packages: list[Locked]) -> bool:
        """Install what is missing, a part of it at a time; whether there is more."""
        absent = missing(packages)
        present = await self._present({dependency.kind for dependency in absent}) if absent else {}
        pending = {(kind, source) for (kind, _), source in present.items()}
        missing_packages = [
            dependency for dependency in absent if (dependency.kind, dependency.source) not in pending
        ]
        allowed = within_limits(packages)
        beyond = [dependency.source for dependency in missing_packages if dependency.source not in allowed]
        missing_packages = [dependency for dependency in missing_packages if dependency.source in allowed]
        self._attempts = {
            dependency.source: self._attempts.get(dependency.source, 0) for dependency in missing_packages
        }
        self._failed = {
            source: failure for source, failure in self._failed.items() if source in self._attempts
        }
        self._failed |= {source: str(limit_error(source)) for source in beyond}
        # Those that were tried less often come first, so that none waits behind others that fail.
        batch = sorted(missing_packages, key=lambda dependency: self._attempts[dependency.source])[:AT_A_TIME]
        room = asyncio.Semaphore(_AT_ONCE)
        await asyncio.gather(*(self._try(dependency, packages, present, room) for dependency in batch))
        return len(missing_packages) > AT_A_TIME

    async def _try(
        self, dependency: Dependency, packages: list[Locked], present: Present, room: asyncio.Semaphore
    ) -> None:
        """Install a package; where that does not work, the reason is remembered."""
        source = dependency.source
        self._attempts[source] += 1
        async with room:
            try:
                await self._install_dependency(dependency, packages, present)
            except CrossplyError as problem:
                self._failed[source] = str(problem)
            else:
                self._failed.pop(source, None)

    async def _present(self, kinds: set[str]) -> Present:
        """The packages that are installed already."""
        present: Present = {}
        for kind in sorted(kinds & _KINDS.keys()):
            for data in (await self._plane.as_controller.list(_KINDS[kind])).items:
                package = orjson.loads(data)
                try:
                    source, _ = source_and_version(package["spec"].get("package", ""))
                except CrossplyError:
                    source = ""
                present[kind, package["metadata"]["name"]] = source
        return present

    async def _install_dependency(
        self, dependency: Dependency, packages: list[Locked], present: Present
    ) -> None:
        source, kind = dependency.source, _KINDS.get(dependency.kind)
        if kind is None:
            message = f'{source} has the kind "{dependency.kind}"'
            raise DependencyError(f"cannot construct dependency package: {message}")
        name = _free_name(source, kind, present)
        if not _needs_no_registry(dependency):
            await self._check_registry(source, packages)
        version = await self._version(dependency, packages)
        body: Object = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name},
            "spec": {"package": f"{source}{'@' if version.startswith('sha256:') else ':'}{version}"},
        }
        try:
            await self._plane.as_installer.create(kind, body, MANAGER)
        except AlreadyExists:
            return
        except CrossplyError as problem:
            raise problem.within("cannot create dependency package") from None

    async def _check_registry(self, source: str, packages: list[Locked]) -> None:
        """Raise where a package names a registry inside of a private network that no user has named.

        A user names one by a package of it, which is in the Lock, or in an ImageConfig.
        """
        registry = parse(source).registry
        if registry in {_registry_of(package.source) for package in packages}:
            return
        configs = [orjson.loads(data) for data in (await self._plane.as_controller.list(IMAGE_CONFIG)).items]
        named = {_registry_of(prefix) for config in configs for prefix in prefixes(config)}
        if registry not in named and not await is_public_host(host_of(registry)):
            raise DependencyError(
                f"dependency package {source} is inside of a private network, and no user named its registry",
                hint="name the registry in an ImageConfig, or install the dependency by hand",
            )

    async def _version(self, dependency: Dependency, packages: list[Locked]) -> str:
        """The version to install: a required digest, or the highest that all constraints accept."""
        source = dependency.source
        constraints = [
            dependency
            for package in packages
            for dependency in package.dependencies
            if dependency.source == source
        ]
        try:
            best = (
                best_version(constraints, _mentioned(constraints)) if _needs_no_registry(dependency) else None
            )
            if best is None:
                offered = (
                    []
                    if any(dependency.digest for dependency in constraints)
                    else await self._fetcher.versions(source)
                )
                # There may be a hundred thousand of them: others are not to wait meanwhile.
                best = await asyncio.to_thread(best_version, constraints, offered)
        except CrossplyError as problem:
            raise problem.within("cannot find dependency version to install") from None
        if best is None:
            raise _no_version(source, constraints, packages)
        return best


def _free_name(source: str, kind: Kind, present: Present) -> str:
    """The name to install a package under."""
    try:
        name = to_dns_label(parse(source).repository)
    except CrossplyError as problem:
        raise problem.within("dependency package is not valid") from None
    if (kind.kind, name) in present:
        raise DependencyError(
            f"cannot create dependency package: {kind.kind} {name} is there already, and is not {source}",
            hint="install the dependency by hand, under another name",
        )
    return name


def _registry_of(text: str) -> str:
    """The registry of a source or of the beginning of one; empty where that names none."""
    try:
        return parse(f"{text.rstrip('/')}/xx" if "/" not in text.rstrip("/") else text.rstrip("/")).registry
    except CrossplyError:
        return ""


def _needs_no_registry(dependency: Dependency) -> bool:
    """Whether any version will do, since the function is built in."""
    return dependency.kind == FUNCTION.kind and builtin.for_package(dependency.source) is not None


def _mentioned(dependencies: Iterable[Dependency]) -> list[str]:
    """The versions that the constraints themselves name."""
    return [version for dependency in dependencies for version in _VERSION.findall(dependency.constraint)]


def _no_version(source: str, dependencies: list[Dependency], packages: list[Locked]) -> DependencyError:
    constraints = " ".join(dependency.constraint for dependency in dependencies[:_MAX_LINES])
    lines = why(packages, source)
    message = (
        f"dependency ({source}) does not have a valid version to upgrade that satisfies all constraints. If "
        "there is a valid version that requires downgrade, manual intervention is required. "
        f"Constraints: [{constraints}]"
    )
    return DependencyError("\n".join([message, *lines[:_MAX_LINES]]))
