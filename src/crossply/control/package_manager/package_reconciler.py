"""Reconciles packages: creates a revision for every image that a package refers to.

A revision is named by the digest of its image. `revision_activation` decides which revisions are active.
Revisions and runtimes have reconcilers of their own; a package reports the health of its current revision.
"""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from crossply.compose.conditions import RECONCILE_PAUSED, read_conditions, with_conditions
from crossply.compose.events import NORMAL, PAUSED, WARNING, Event, StatusCondition
from crossply.compose.object_metadata import annotations_of, is_paused, labels_of, name_of
from crossply.control.calls.function_revision_runtime import ACTIVE, INACTIVE, PACKAGE, is_local, is_running
from crossply.control.controller_context import Plane
from crossply.control.managed_fields_noop_check import holds
from crossply.control.package_manager import package_health as health
from crossply.control.package_manager.directory_package import POLL_SECONDS
from crossply.control.package_manager.package_fetcher import ALWAYS, DIGEST
from crossply.control.package_manager.package_image_resolution import Identities
from crossply.control.package_manager.package_kinds import PackageKind
from crossply.control.package_manager.package_revision import (
    Identity,
    check_controller,
    revision_for,
    revision_name,
)
from crossply.control.package_manager.revision_activation import (
    MANUAL,
    Decision,
    ExistingRevision,
    Rules,
    decide,
)
from crossply.errors import CrossplyError
from crossply.functions.local_provider_annotations import provider_directory
from crossply.kube.controller import Requeue
from crossply.kube.informer import Informer
from crossply.values import Object
from crossply.xpkg.image_config_selection import is_for

MANAGER = "pkg.crossplane.io/packages"
UNPACK, TRANSITION, COLLECT, INSTALL = (
    "UnpackPackage",
    "TransitionRevision",
    "GarbageCollect",
    "InstallPackageRevision",
)
OF_PACKAGE = "package"
"""The index that finds revisions by the name of their package."""
ALWAYS_SECONDS = 60.0


class PackageReconciler:
    """Keeps the revisions of the packages of one kind in line with them."""

    def __init__(self, plane: Plane, kind: PackageKind, identities: Identities, rollout: bool = True) -> None:
        """With `rollout`, several revisions may be active where the kind allows that."""
        self._plane = plane
        self._kind = kind
        self._identities = identities
        self._rolls_out = rollout and kind.rolls_out
        self.packages = plane.informers.acquire(kind.package)
        self.revisions = plane.informers.acquire(kind.revision)
        self.revisions.add_index(OF_PACKAGE, package_of)

    async def reconcile(self, name: str) -> Requeue | None:
        """Bring one package in line."""
        await self.revisions.synced.wait()
        data = self.packages.get("", name)
        if data is None:
            self._identities.forget(self._kind, name)
            return None
        package: Object = orjson.loads(data)
        if is_paused(package):
            await self._pause(package)
            return None
        if package["metadata"].get("deletionTimestamp"):
            # Owner references let the revisions go with their package.
            return None
        await self._install(_unpaused(package), package)
        if provider_directory(package):
            return Requeue(POLL_SECONDS)
        return Requeue(ALWAYS_SECONDS) if package["spec"].get("packagePullPolicy") == ALWAYS else None

    def with_image_like(self, prefixes: tuple[str, ...]) -> list[str]:
        """The packages whose image starts with one of these prefixes; their digests are resolved again."""
        names = []
        for data in self.packages.objects():
            package = orjson.loads(data)
            images = (package["spec"]["package"], (package.get("status") or {}).get("resolvedPackage", ""))
            if any(is_for(prefixes, image) for image in images):
                self._identities.forget(self._kind, name_of(package))
                names.append(name_of(package))
        return names

    async def _pause(self, package: Object) -> None:
        event = Event(NORMAL, PAUSED, "Reconciliation is paused via the pause annotation")
        self._plane.recorder.record(package, event)
        await self._write_status(package, with_conditions(package, (RECONCILE_PAUSED,), self._plane.now()))

    async def _install(self, package: Object, stored: Object) -> None:
        try:
            identity = await self._identities.of(package, self._kind, self._current_of(package))
        except CrossplyError as problem:
            problem = self._reported(package, UNPACK, problem.within("cannot unpack package"))
            message = (
                health.UNPACKING._replace(message=str(problem)),
                health.UNHEALTHY._replace(message=str(problem)),
            )
            await self._write_status(stored, with_conditions(package, message, self._plane.now()))
            raise problem from None
        revision = await self._bring_in_line(package, identity)
        await self._report(package, stored, identity, revision)

    async def _bring_in_line(self, package: Object, identity: Identity) -> Object:
        """Bring all revisions in line; returns the current one."""
        current, live = revision_name(package, identity), self._revisions_of(name_of(package))
        decision = decide([self._existing(name) for name in live.values()], current, self._rules(package))
        inactive = [live[name] for name in decision.deactivate]
        if not self._kind.rolls_out:
            # What the old one brought is to be the new one's.
            await self._switch(package, inactive, INACTIVE)
        revision = await self._apply(package, identity, decision, live.get(current))
        await self._switch(package, [live[name] for name in decision.activate], ACTIVE)
        if self._kind.rolls_out:
            # At no moment is there none that can be called.
            await self._switch(package, inactive, INACTIVE)
        await self._collect(package, decision.collect)
        return revision

    def _current_of(self, package: Object) -> Object | None:
        """The revision that was current at the last reconcile of the package."""
        data = self.revisions.get("", (package.get("status") or {}).get("currentRevision", ""))
        return orjson.loads(data) if data is not None else None

    def _revisions_of(self, package: str) -> dict[str, Object]:
        revisions = [orjson.loads(data) for data in self.revisions.by(OF_PACKAGE, package)]
        return {name_of(revision): revision for revision in revisions}

    def _rules(self, package: Object) -> Rules:
        spec = package["spec"]
        limit = spec.get("revisionHistoryLimit")
        return Rules(
            automatic=spec.get("revisionActivationPolicy") != MANUAL,
            active_limit=max(spec.get("activeRevisionLimit") or 1, 1),
            history_limit=0 if limit is None else limit,
            rolls_out=self._rolls_out,
        )

    def _existing(self, revision: Object) -> ExistingRevision:
        spec = revision["spec"]
        return ExistingRevision(
            name_of(revision),
            spec.get("revision") or 0,
            spec.get("desiredState") == ACTIVE,
            self._serves(revision),
        )

    def _serves(self, revision: Object) -> bool:
        """Whether others may rest, as far as this revision is concerned."""
        if self._health(revision).status != "True":
            return False
        return is_local(revision) or is_running(revision)

    def _health(self, revision: Object) -> StatusCondition:
        return health.health_of(revision, self._kind.has_runtime, is_local(revision))

    async def _apply(
        self, package: Object, identity: Identity, decision: Decision, live: Object | None
    ) -> Object:
        if live is not None and DIGEST not in annotations_of(live):
            # Crossplane made it. A digest would be part of the image that its Pods run, and restart them.
            identity = identity._replace(digest="")
        desired = revision_for(package, self._kind, identity, decision)
        if live is not None and holds(live, desired, MANAGER):
            return live
        try:
            if live is not None:
                check_controller(live, package)
                # Decided about this very state: a user may have activated it since.
                desired["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"]
            written = await self._plane.as_installer.apply(self._kind.revision, desired, MANAGER)
        except CrossplyError as problem:
            raise self._reported(package, INSTALL, problem.within("cannot apply package revision")) from None
        return self._learnt(self.revisions, written)

    async def _switch(self, package: Object, revisions: Iterable[Object], state: str) -> None:
        for revision in revisions:
            version = revision["metadata"]["resourceVersion"]
            change = {"metadata": {"resourceVersion": version}, "spec": {"desiredState": state}}
            try:
                written = await self._plane.as_installer.patch_merge(
                    self._kind.revision, name_of(revision), change
                )
            except CrossplyError as problem:
                context = f"cannot update the desired state of package revisions to {state.lower()}"
                raise self._reported(package, TRANSITION, problem.within(context)) from None
            self._learnt(self.revisions, written)

    async def _collect(self, package: Object, name: str) -> None:
        if not name:
            return
        try:
            await self._plane.as_installer.delete(self._kind.revision, name)
        except CrossplyError as problem:
            context = "cannot garbage collect old package revision"
            raise self._reported(package, COLLECT, problem.within(context)) from None

    async def _report(self, package: Object, stored: Object, identity: Identity, revision: Object) -> None:
        """The status of a package whose revision is there."""
        well = self._health(revision)
        if well.status == "True" and not _was_healthy(stored):
            event = Event(NORMAL, INSTALL, "Successfully installed package revision")
            self._plane.recorder.record(package, event)
        active = revision["spec"]["desiredState"] == ACTIVE
        changes = (well, health.ACTIVE if active else health.INACTIVE)
        package = with_conditions(package, changes, self._plane.now())
        status = {
            **package["status"],
            "currentRevision": name_of(revision),
            "currentIdentifier": package["spec"]["package"],
            "resolvedPackage": identity.resolved,
            "appliedImageConfigRefs": identity.config_refs,
        }
        if not identity.config_refs:
            del status["appliedImageConfigRefs"]
        await self._write_status(stored, {**package, "status": status})

    async def _write_status(self, stored: Object, package: Object) -> None:
        if package.get("status") != stored.get("status"):
            written = await self._plane.as_installer.update_status(self._kind.package, package)
            self._learnt(self.packages, written)

    def _reported(self, package: Object, reason: str, problem: CrossplyError) -> CrossplyError:
        self._plane.recorder.record(package, Event(WARNING, reason, str(problem)))
        return problem

    def _learnt(self, cache: Informer, written: Object) -> Object:
        cache.record_write(written)
        return written


def package_of(revision: Object) -> tuple[str, ...]:
    """The name of the package that a revision is of."""
    name = labels_of(revision).get(PACKAGE)
    return (name,) if name else ()


def _unpaused(package: Object) -> Object:
    """The package without its conditions, if it was paused."""
    conditions = read_conditions(package.get("status"))
    if not any(condition["type"] == RECONCILE_PAUSED.type for condition in conditions):
        return package
    status = {key: value for key, value in package["status"].items() if key != "conditions"}
    return {**package, "status": status}


def _was_healthy(package: Object) -> bool:
    conditions = read_conditions(package.get("status"))
    return any(condition["type"] == "Healthy" and condition["status"] == "True" for condition in conditions)
