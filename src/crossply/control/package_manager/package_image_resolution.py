"""Which image each package stands for now: asked of its registry once, and not again without a reason.

A package whose image is known stays installed while its registry cannot be asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from crossply.compose.object_metadata import annotations_of, name_of
from crossply.control.calls.function_revision_runtime import (
    is_unpacked,
    local_identity,
    needs_package,
    stays_with_revision,
)
from crossply.control.package_manager.directory_package import DirectoryPackages
from crossply.control.package_manager.package_fetcher import ALWAYS, DIGEST, PackageFetcher, Resolved
from crossply.control.package_manager.package_kinds import PackageKind
from crossply.control.package_manager.package_revision import Identity
from crossply.errors import CrossplyError
from crossply.functions.binding import BUILTIN, RUNTIME, shared_name
from crossply.functions.host_access_policy import HostAccess
from crossply.functions.local_provider_annotations import provider_directory
from crossply.values import Object

FRESH_SECONDS = 50.0
"""How long a registry's answer is used for packages with the pull policy Always."""

PackageState = tuple[str, str]
"""The kind of a package, and its name."""


class _CachedDigest(NamedTuple):
    """A registry's answer, with the question and the time."""

    question: tuple[object, ...]
    resolved: Resolved
    at: float


class Identities:
    """What packages stand for."""

    def __init__(
        self,
        fetching: PackageFetcher,
        clock: Callable[[], float] = time.monotonic,
        directories: DirectoryPackages | None = None,
    ) -> None:
        self._fetcher = fetching
        self._directories = directories or DirectoryPackages(HostAccess().check)
        self._clock = clock
        self._known: dict[PackageState, _CachedDigest] = {}

    async def of(self, package: Object, kind: PackageKind, current: Object | None) -> Identity:
        """What a package stands for, beside its revision until now; raises why that cannot be known."""
        if kind.rolls_out and not needs_package(package):
            installed = (
                _installed(package, current) if current and stays_with_revision(package, current) else None
            )
            return installed or Identity(local_identity(package), package["spec"]["package"], [])
        if provider_directory(package):
            digest = await self._directories.digest(package)
            return Identity(digest.partition(":")[2], package["spec"]["package"], [], digest)
        try:
            resolved = await self._resolve(package, (kind.package.kind, name_of(package)))
        except CrossplyError as problem:
            before = None if _always(package) or current is None else _installed(package, current)
            if before is None:
                raise (_with_choice(problem, package) if kind.rolls_out else problem) from None
            return before
        digest = resolved.digest
        return Identity(digest.partition(":")[2], resolved.pulled, resolved.config_refs, digest)

    def forget(self, kind: PackageKind, name: str) -> None:
        """Forget the answer: the reference may stand for another image now."""
        self._known.pop((kind.package.kind, name), None)

    async def _resolve(self, package: Object, state: PackageState) -> Resolved:
        spec = package["spec"]
        secrets = tuple(secret.get("name", "") for secret in spec.get("packagePullSecrets") or ())
        question = (spec["package"], secrets)
        known = self._known.get(state)
        if known is not None and known.question == question and not self._is_old(package, known):
            return known.resolved
        resolved = await self._fetcher.resolve(spec["package"], secrets)
        self._known[state] = _CachedDigest(question, resolved, self._clock())
        return resolved

    def _is_old(self, package: Object, known: _CachedDigest) -> bool:
        return _always(package) and self._clock() - known.at > FRESH_SECONDS


def _with_choice(problem: CrossplyError, function: Object) -> CrossplyError:
    """The problem, and what else a Function can run as if it has the name of a built-in one."""
    shared = shared_name(function["spec"]["package"])
    if not shared:
        return problem
    return problem.replace(
        message=f"{problem} ({shared}; to use that, annotate the Function with {RUNTIME}: {BUILTIN})"
    )


def _installed(package: Object, current: Object) -> Identity | None:
    """The identity at installation, if the package still names the same image."""
    status = package.get("status") or {}
    digest = annotations_of(current).get(DIGEST, "")
    if status.get("currentIdentifier") != package["spec"]["package"]:
        return None
    if not digest and not is_unpacked(current):
        return None
    # Crossplane notes no digest; the name of a revision ends in the beginning of it.
    hash_ = digest.partition(":")[2] or name_of(current).rpartition("-")[2]
    configs = status.get("appliedImageConfigRefs") or []
    return Identity(hash_, status.get("resolvedPackage", ""), configs, digest)


def _always(package: Object) -> bool:
    return bool(package["spec"].get("packagePullPolicy") == ALWAYS)
