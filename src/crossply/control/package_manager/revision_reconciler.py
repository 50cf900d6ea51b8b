"""Reconciles revisions of packages: fetch, check, enter into the Lock, establish.

The metadata of a package is cached, so that a change of the Lock does not fetch it again. Its objects are
not: those of a large Provider take much memory.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

from crossply.compose.conditions import RECONCILE_PAUSED, read_conditions, with_conditions
from crossply.compose.events import NORMAL, PAUSED, WARNING, Event, StatusCondition
from crossply.compose.object_metadata import annotations_of, is_paused, name_of
from crossply.control.calls.function_revision_runtime import is_local
from crossply.control.controller_context import Plane
from crossply.control.kinds import ACTIVATION_POLICY, MANAGED_DEFINITION, PROVIDER
from crossply.control.managed_definitions.crd_establishment_wait import wait_for_crds
from crossply.control.managed_definitions.definition_informer import acquire_definitions
from crossply.control.managed_definitions.safe_start import has_safe_start
from crossply.control.package_manager.directory_package import DirectoryPackages
from crossply.control.package_manager.establisher import MANAGER, Establisher, Fingerprints
from crossply.control.package_manager.install_failures import FetchBackoff, StepFailed, step
from crossply.control.package_manager.lock import PackageLock
from crossply.control.package_manager.managed_definitions import Conversion, definitions_of
from crossply.control.package_manager.package_checks import (
    LOCAL_META,
    capabilities,
    check_digest,
    check_package,
    check_version,
    copied,
)
from crossply.control.package_manager.package_content import PackageContent
from crossply.control.package_manager.package_fetcher import DIGEST, REASONS, PackageFetcher, Resolved
from crossply.control.package_manager.package_kinds import PackageKind
from crossply.control.package_manager.provider_role_reconciler import ProviderRoleReconciler
from crossply.functions.local_provider_annotations import provider_directory
from crossply.kube.controller import Requeue
from crossply.kube.finalizers import add_finalizer, remove_finalizer
from crossply.values import Object
from crossply.xpkg.package_lint import failures, may_contain
from crossply.xpkg.registry_failures import RegistryUnreachable

FINALIZER = "revision.pkg.crossplane.io"
HEALTHY = StatusCondition("RevisionHealthy", "True", "HealthyPackageRevision")
UNHEALTHY = StatusCondition("RevisionHealthy", "False", "UnhealthyPackageRevision")
PARSE, VALIDATE, LINT = "ParsePackage", "ValidatePackage", "LintPackage"
DEPENDENCIES, SYNC, DEACTIVATE = "ResolveDependencies", "SyncPackage", "DeactivateRevision"
_DAY = 86_400.0
_WELL = Event(NORMAL, SYNC, "Successfully configured package revision")
_PAUSE = Event(NORMAL, PAUSED, "Reconciliation (including deletion) is paused via the pause annotation")


class _FetchedPackage(NamedTuple):
    """What is remembered of a package that was fetched."""

    generation: int
    """Of the revision that it was fetched for."""
    meta: Object
    resolved: Resolved
    established: Fingerprints | None = None
    """What it brought, once all of that is there."""
    references: tuple[Object, ...] = ()
    """The same, as its status lists it: the write of the status may have failed."""
    until: float = math.inf
    """When it is checked again."""


class _Reconcile:
    """One reconcile of a revision: the stored object, and its new status."""

    __slots__ = ("revision", "status")

    def __init__(self, revision: Object) -> None:
        self.revision = revision
        self.status: Object = dict(revision.get("status") or {})
        if any(condition["type"] == RECONCILE_PAUSED.type for condition in read_conditions(self.status)):
            # It was paused, and starts again.
            del self.status["conditions"]

    @property
    def name(self) -> str:
        return name_of(self.revision)

    @property
    def spec(self) -> Object:
        spec: Object = self.revision["spec"]
        return spec

    @property
    def generation(self) -> int:
        return int(self.revision["metadata"].get("generation") or 0)

    @property
    def is_active(self) -> bool:
        return bool(self.spec.get("desiredState") == "Active")

    @property
    def is_healthy(self) -> bool:
        conditions = read_conditions(self.revision.get("status"))
        return any(
            condition["type"] == HEALTHY.type and condition["status"] == "True" for condition in conditions
        )


class PackageRevisionReconciler:
    """Brings the revisions of one kind of package in line."""

    def __init__(
        self,
        plane: Plane,
        kind: PackageKind,
        fetching: PackageFetcher,
        locking: PackageLock,
        namespace: str,
        converts: bool = True,
    ) -> None:
        """With `converts`, CRDs of a Provider become ManagedResourceDefinitions."""
        self._plane, self._kind = plane, kind
        self._converts = converts
        self._definitions = acquire_definitions(plane.informers)
        self._policies = plane.informers.acquire(ACTIVATION_POLICY)
        self._fetcher, self._lock = fetching, locking
        self._directories = DirectoryPackages(plane.functions.factory.check_host_access)
        self._establisher = Establisher(plane, namespace)
        self._provider_roles = ProviderRoleReconciler(plane)
        self._known: dict[str, _FetchedPackage] = {}
        self._backoff = FetchBackoff()

    def forget(self, name: str) -> None:
        """Fetch a package again at the next reconcile of its revision."""
        self._known.pop(name, None)
        self._backoff.forget(name)
        self._establisher.forget(name)

    def end_pause(self, name: str) -> None:
        """Fetch a package at the next reconcile of its revision, if that failed a moment ago."""
        self._backoff.forget(name)

    def established(self, name: str) -> Fingerprints:
        """What a revision brought, as far as that is remembered."""
        known = self._known.get(name)
        return (known.established if known is not None else None) or {}

    def refused(self, name: str) -> list[str]:
        """The revisions that wait for an object of this name, which something else controls."""
        return self._establisher.refused(name)

    def depending(self) -> list[str]:
        """The revisions that depend on other packages."""
        return [name for name, known in self._known.items() if known.meta["spec"].get("dependsOn")]

    async def reconcile(self, name: str) -> Requeue | None:
        """Bring one revision in line."""
        await self._reconcile(name)
        known = self._known.get(name)
        return None if known is None or known.until == math.inf else Requeue(_DAY)

    async def _reconcile(self, name: str) -> None:
        revision = await self._plane.as_controller.get(self._kind.revision, name)
        if revision is None:
            self.forget(name)
        elif is_paused(revision):
            self._plane.recorder.record(revision, _PAUSE)
            await self._report(_Reconcile(revision), RECONCILE_PAUSED._replace(message=_PAUSE.message))
        elif revision["metadata"].get("deletionTimestamp"):
            self.forget(name)
            await self._lock.leave(name)
            await self._set_finalizer(revision, False)
        else:
            await self._install(_Reconcile(await self._set_finalizer(revision, True)))

    async def _set_finalizer(self, revision: Object, present: bool) -> Object:
        """Keep a revision from going before it has left the Lock, or let it go."""
        kind = self._kind.revision
        write = add_finalizer if present else remove_finalizer
        return await write(self._plane.as_installer, kind, revision, FINALIZER, MANAGER)

    async def _patch(self, revision: Object, metadata: Object) -> Object:
        version = revision["metadata"]["resourceVersion"]
        body = {"metadata": {**metadata, "resourceVersion": version}}
        return await self._plane.as_installer.patch_merge(
            self._kind.revision, name_of(revision), body, "", MANAGER
        )

    async def _install(self, state: _Reconcile) -> None:
        """Run all steps; the first that fails is reported."""
        try:
            await self._steps(state)
        except StepFailed as failed:
            problem = failed.problem
            self._plane.recorder.record(state.revision, Event(WARNING, failed.reason, str(problem)))
            # An installed package continues to work while its registry is unreachable.
            if not (isinstance(problem, RegistryUnreachable) and state.is_healthy):
                await self._report(state, UNHEALTHY._replace(message=str(problem)))
            if failed.retry:
                raise problem from None
            return
        if not state.is_healthy:
            self._plane.recorder.record(state.revision, _WELL)
        await self._report(state, HEALTHY)

    async def _report(self, state: _Reconcile, condition: StatusCondition) -> None:
        desired = with_conditions({**state.revision, "status": state.status}, (condition,), self._plane.now())
        if desired["status"] != state.revision.get("status"):
            await self._plane.as_installer.update_status(self._kind.revision, desired, MANAGER)

    async def _steps(self, state: _Reconcile) -> None:
        if not state.is_active:
            async with step("cannot deactivate package revision", DEACTIVATE):
                await self._lock.leave(state.name)
                await self._establisher.release(state.revision)
            if state.status.get("objectRefs"):
                return
        if is_local(state.revision):
            state.status["capabilities"] = capabilities(LOCAL_META)
            await self._depend(state, LOCAL_META)
            return
        known, content = await self._package(state)
        await self._describe(state, known)
        async with step("incompatible Crossplane version", LINT, retry=False):
            if not state.spec.get("ignoreCrossplaneConstraints"):
                check_version(known.meta)
        await self._depend(state, known.meta)
        if known.established is None:
            await self._establish(state, known, content or await self._fetch(state))
        elif known.references:
            state.status["objectRefs"] = list(known.references)

    async def _package(self, state: _Reconcile) -> tuple[_FetchedPackage, PackageContent | None]:
        """What a package says of itself, and the package where it was fetched for that."""
        known = self._known.get(state.name)
        if known is not None and known.generation == state.generation and time.monotonic() < known.until:
            return known, None
        content = await self._fetch(state)
        return self._known[state.name], content

    async def _fetch(self, state: _Reconcile) -> PackageContent:
        spec = state.spec
        secrets = [str(secret.get("name") or "") for secret in spec.get("packagePullSecrets") or ()]
        digest = annotations_of(state.revision).get(DIGEST, "")
        policy = spec.get("packagePullPolicy") or ""
        self._backoff.check(state.name, state.generation)
        async with step("cannot get package", PARSE):
            with self._backoff.after_failure(state.name, state.generation):
                if provider_directory(state.revision):
                    fetched = await self._directories.fetch(state.revision)
                else:
                    fetched = await self._fetcher.package(spec["image"], policy, secrets, digest)
                check_digest(state.name, fetched.resolved.digest)
        package = fetched.package
        async with step("validating package contents failed", VALIDATE, retry=False):
            check_package(package, self._kind.package.kind)
        wrong = failures(package)
        if wrong:
            message = f"linting package contents failed: {'; '.join(wrong[:10])}"
            self._plane.recorder.record(state.revision, Event(WARNING, LINT, message))
        self._known[state.name] = _FetchedPackage(state.generation, package.meta, fetched.resolved)
        return fetched.content

    async def _describe(self, state: _Reconcile, known: _FetchedPackage) -> None:
        """Copy metadata, capabilities and the source of a package to its revision.

        A label or annotation that the revision already has stays: it comes from the package object, which
        would restore it at every reconcile.
        """
        written = state.revision["metadata"]
        copied_metadata = {
            key: copied(known.meta["metadata"].get(key) or {}) for key in ("labels", "annotations")
        }
        added = {
            key: {name: value for name, value in values.items() if name not in (written.get(key) or {})}
            for key, values in copied_metadata.items()
        }
        changed = {key: values for key, values in added.items() if values}
        if changed:
            async with step("cannot update package revision object metadata", SYNC):
                state.revision = await self._patch(state.revision, changed)
        state.status["resolvedImage"] = known.resolved.pulled
        others = [
            reference
            for reference in state.status.get("appliedImageConfigRefs") or ()
            if reference.get("reason") not in REASONS
        ]
        state.status["appliedImageConfigRefs"] = [*known.resolved.config_refs, *others]
        state.status["capabilities"] = capabilities(known.meta)
        for key in ("appliedImageConfigRefs", "capabilities"):
            if not state.status[key]:
                del state.status[key]

    async def _depend(self, state: _Reconcile, meta: Object) -> None:
        if not state.is_active:
            return
        if state.spec.get("skipDependencyResolution") is not False:
            # It may have been reconciled before.
            await self._lock.leave(state.name)
            return
        context = "cannot resolve package dependencies"
        async with step(context, DEPENDENCIES):
            dependencies = await self._lock.enter(state.revision, self._kind.package.kind, meta)
        for key in ("found", "installed", "invalid"):
            # A count of none is left out, as Crossplane does: it would remove it.
            state.status.pop(f"{key}Dependencies", None)
            if getattr(dependencies, key):
                state.status[f"{key}Dependencies"] = getattr(dependencies, key)
        if dependencies.problem is not None:
            # A change of the Lock enqueues the revision.
            raise StepFailed(dependencies.problem.within(context), DEPENDENCIES, retry=False)

    async def _establish(self, state: _Reconcile, known: _FetchedPackage, content: PackageContent) -> None:
        """Bring into being what a package holds; that of a Function only describes its input."""
        kind = self._kind.package.kind
        pairs = () if kind == "Function" else zip(content.package.objects, content.encoded, strict=True)
        allowed = [data for head, data in pairs if may_contain(kind, head)]
        conversion = await self._conversion(state)
        async with step("cannot establish control of object", SYNC):
            result = await self._establisher.establish(state.revision, allowed, conversion)
        if result.left_out:
            message = f"left out, since there is no such kind here: {', '.join(result.left_out[:10])}"
            self._plane.recorder.record(state.revision, Event(WARNING, SYNC, message))
        if result.references:
            state.status["objectRefs"] = result.references
            await wait_for_crds(self._definitions, self._policies, _definitions_in(result.fingerprints))
        if kind == "Provider":
            # Before it is healthy: then its kinds can be used.
            await self._provider_roles.keep({**state.revision, "status": state.status})
        # Who calls a Provider knows it by a certificate, which is another one after some months.
        until = time.monotonic() + _DAY if result.calls_back else math.inf
        self._known[state.name] = known._replace(
            established=result.fingerprints, references=tuple(result.references), until=until
        )

    async def _conversion(self, state: _Reconcile) -> Conversion:
        if self._kind.package.kind != PROVIDER.kind:
            return Conversion()
        await self._definitions.synced.wait()
        safe_start = has_safe_start(state.status.get("capabilities") or ())
        return Conversion(self._converts, safe_start, definitions_of(self._definitions, state.revision))


def _definitions_in(fingerprints: Fingerprints) -> dict[str, str]:
    return {
        name: str(digest) for (kind, name), digest in fingerprints.items() if kind == MANAGED_DEFINITION.kind
    }
