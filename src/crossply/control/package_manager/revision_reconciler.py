"""Revisions of packages become what they hold: fetched, checked, entered into the Lock, and established.

What a package says of itself is remembered, so that a change of the Lock does not have it fetched again; what
it brings is not, since a large Provider brings much.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

from crossply.compose.conditions import RECONCILE_PAUSED, read_conditions
from crossply.compose.events import NORMAL, PAUSED, WARNING, Event, StatusCondition
from crossply.compose.metadata import annotations_of, is_paused, name_of
from crossply.control.calls.function_revision import is_local
from crossply.control.conditions import with_conditions
from crossply.control.controller import Requeue
from crossply.control.definitions.kind_roles import KindRoles
from crossply.control.finalizers import add_finalizer, remove_finalizer
from crossply.control.kinds import CLUSTER_ROLE
from crossply.control.package_manager.establisher import MANAGER, Establisher, Generations
from crossply.control.package_manager.fetch_backoff import FetchBackoff
from crossply.control.package_manager.install_step import StepFailed, step
from crossply.control.package_manager.lock import PackageLock
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
from crossply.control.package_manager.provider_roles import roles_of_provider
from crossply.control.plane import Plane
from crossply.values import Object
from crossply.xpkg.package_lint import failures, may_hold
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
    established: Generations | None = None
    """What it brought, once all of that is there."""
    until: float = math.inf
    """When that is to be looked at again."""


class _Reconcile:
    """One look at one revision: the object as it is stored, and what its status is to say."""

    __slots__ = ("revision", "status")

    def __init__(self, revision: Object) -> None:
        self.revision = revision
        self.status: Object = dict(revision.get("status") or {})
        if any(each["type"] == RECONCILE_PAUSED.type for each in read_conditions(self.status)):
            # It was paused, and begins anew.
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
        return any(each["type"] == HEALTHY.type and each["status"] == "True" for each in conditions)


class PackageRevisionReconciler:
    """Brings the revisions of one kind of package in line."""

    def __init__(
        self, plane: Plane, kind: PackageKind, fetching: PackageFetcher, locking: PackageLock, namespace: str
    ) -> None:
        self._plane, self._kind = plane, kind
        self._fetching, self._locking = fetching, locking
        self._establishing = Establisher(plane, namespace)
        self._roles = KindRoles(plane, plane.informers.acquire(CLUSTER_ROLE))
        self._known: dict[str, _FetchedPackage] = {}
        self._resting = FetchBackoff()

    def forget(self, name: str) -> None:
        """Fetch a package anew when its revision is looked at next."""
        self._known.pop(name, None)
        self._resting.forget(name)

    def established(self, name: str) -> Generations:
        """What a revision brought, as far as that is remembered."""
        known = self._known.get(name)
        return (known.established if known is not None else None) or {}

    def depending(self) -> list[str]:
        """The revisions that depend on other packages."""
        return [name for name, known in self._known.items() if known.meta["spec"].get("dependsOn")]

    async def reconcile(self, name: str) -> Requeue | None:
        """Bring one revision in line."""
        await self._look_at(name)
        known = self._known.get(name)
        return None if known is None or known.until == math.inf else Requeue(_DAY)

    async def _look_at(self, name: str) -> None:
        revision = await self._plane.as_controller.get(self._kind.revision, name)
        if revision is None:
            self.forget(name)
        elif is_paused(revision):
            self._plane.recorder.record(revision, _PAUSE)
            await self._tell(_Reconcile(revision), RECONCILE_PAUSED._replace(message=_PAUSE.message))
        elif revision["metadata"].get("deletionTimestamp"):
            self.forget(name)
            await self._locking.leave(name)
            await self._hold(revision, False)
        else:
            await self._install(_Reconcile(await self._hold(revision, True)))

    async def _hold(self, revision: Object, held: bool) -> Object:
        """Keep a revision from going before it has left the Lock, or let it go."""
        kind = self._kind.revision
        write = add_finalizer if held else remove_finalizer
        return await write(self._plane.as_installer, kind, revision, FINALIZER, MANAGER)

    async def _patch(self, revision: Object, metadata: Object) -> Object:
        version = revision["metadata"]["resourceVersion"]
        body = {"metadata": {**metadata, "resourceVersion": version}}
        return await self._plane.as_installer.patch_merge(
            self._kind.revision, name_of(revision), body, "", MANAGER
        )

    async def _install(self, look: _Reconcile) -> None:
        """Go through all steps; the first that fails is told."""
        try:
            await self._steps(look)
        except StepFailed as failed:
            problem = failed.problem
            self._plane.recorder.record(look.revision, Event(WARNING, failed.reason, str(problem)))
            # What is installed goes on working while its registry cannot be asked.
            if not (isinstance(problem, RegistryUnreachable) and look.is_healthy):
                await self._tell(look, UNHEALTHY._replace(message=str(problem)))
            if failed.again:
                raise problem from None
            return
        if not look.is_healthy:
            self._plane.recorder.record(look.revision, _WELL)
        await self._tell(look, HEALTHY)

    async def _tell(self, look: _Reconcile, condition: StatusCondition) -> None:
        told = with_conditions({**look.revision, "status": look.status}, (condition,), self._plane.now())
        if told["status"] != look.revision.get("status"):
            await self._plane.as_installer.update_status(self._kind.revision, told, MANAGER)

    async def _steps(self, look: _Reconcile) -> None:
        if not look.is_active:
            async with step("cannot deactivate package revision", DEACTIVATE):
                await self._locking.leave(look.name)
                await self._establishing.release(look.revision)
            if look.status.get("objectRefs"):
                return
        if is_local(look.revision):
            look.status["capabilities"] = capabilities(LOCAL_META)
            await self._depend(look, LOCAL_META)
            return
        known, content = await self._package(look)
        await self._describe(look, known)
        async with step("incompatible Crossplane version", LINT, again=False):
            if not look.spec.get("ignoreCrossplaneConstraints"):
                check_version(known.meta)
        await self._depend(look, known.meta)
        if known.established is None:
            await self._establish(look, known, content or await self._fetch(look))

    async def _package(self, look: _Reconcile) -> tuple[_FetchedPackage, PackageContent | None]:
        """What a package says of itself, and the package where it was fetched for that."""
        known = self._known.get(look.name)
        if known is not None and known.generation == look.generation and time.monotonic() < known.until:
            return known, None
        content = await self._fetch(look)
        return self._known[look.name], content

    async def _fetch(self, look: _Reconcile) -> PackageContent:
        spec = look.spec
        secrets = [str(each.get("name") or "") for each in spec.get("packagePullSecrets") or ()]
        digest = annotations_of(look.revision).get(DIGEST, "")
        policy = spec.get("packagePullPolicy") or ""
        self._resting.check(look.name, look.generation)
        async with step("cannot get package", PARSE):
            with self._resting.after_failure(look.name, look.generation):
                fetched = await self._fetching.package(spec["image"], policy, secrets, digest)
                check_digest(look.name, fetched.resolved.digest)
        package = fetched.package
        async with step("validating package contents failed", VALIDATE, again=False):
            check_package(package, self._kind.package.kind)
        wrong = failures(package)
        if wrong:
            told = f"linting package contents failed: {'; '.join(wrong[:10])}"
            self._plane.recorder.record(look.revision, Event(WARNING, LINT, told))
        self._known[look.name] = _FetchedPackage(look.generation, package.meta, fetched.resolved)
        return fetched.content

    async def _describe(self, look: _Reconcile, known: _FetchedPackage) -> None:
        """Have a revision say what its package says of itself, and where that came from.

        A label or annotation that the revision has already stays: it is the user's, by way of the Provider,
        Function or Configuration, which would put it back for ever.
        """
        written = look.revision["metadata"]
        said = {key: copied(known.meta["metadata"].get(key) or {}) for key in ("labels", "annotations")}
        added = {
            key: {name: value for name, value in values.items() if name not in (written.get(key) or {})}
            for key, values in said.items()
        }
        changed = {key: values for key, values in added.items() if values}
        if changed:
            async with step("cannot update package revision object metadata", SYNC):
                look.revision = await self._patch(look.revision, changed)
        look.status["resolvedImage"] = known.resolved.pulled
        others = [
            each
            for each in look.status.get("appliedImageConfigRefs") or ()
            if each.get("reason") not in REASONS
        ]
        look.status["appliedImageConfigRefs"] = [*known.resolved.config_refs, *others]
        look.status["capabilities"] = capabilities(known.meta)
        for key in ("appliedImageConfigRefs", "capabilities"):
            if not look.status[key]:
                del look.status[key]

    async def _depend(self, look: _Reconcile, meta: Object) -> None:
        if not look.is_active:
            return
        if look.spec.get("skipDependencyResolution") is not False:
            # It may have been looked at before.
            await self._locking.leave(look.name)
            return
        story = "cannot resolve package dependencies"
        async with step(story, DEPENDENCIES):
            standing = await self._locking.enter(look.revision, self._kind.package.kind, meta)
        for key in ("found", "installed", "invalid"):
            # A count of none is left out, as Crossplane does: it would remove it.
            look.status.pop(f"{key}Dependencies", None)
            if getattr(standing, key):
                look.status[f"{key}Dependencies"] = getattr(standing, key)
        if standing.problem is not None:
            # A change of the Lock has us look again.
            raise StepFailed(standing.problem.within(story), DEPENDENCIES, again=False)

    async def _establish(self, look: _Reconcile, known: _FetchedPackage, content: PackageContent) -> None:
        """Bring into being what a package holds; that of a Function only describes its input."""
        kind = self._kind.package.kind
        pairs = () if kind == "Function" else zip(content.package.objects, content.encoded, strict=True)
        held = [data for head, data in pairs if may_hold(kind, head)]
        async with step("cannot establish control of object", SYNC):
            result = await self._establishing.establish(look.revision, held)
        if result.left_out:
            told = f"left out, since there is no such kind here: {', '.join(result.left_out[:10])}"
            self._plane.recorder.record(look.revision, Event(WARNING, SYNC, told))
        if result.references:
            look.status["objectRefs"] = result.references
        if look.is_active:
            roles = roles_of_provider(look.revision, result.references)
            await self._roles.keep_all(look.revision, roles)
        # Who calls a Provider knows it by a certificate, which is another one after some months.
        until = time.monotonic() + _DAY if result.calls_back else math.inf
        self._known[look.name] = known._replace(established=result.generations, until=until)
