"""One claim, reconciled: bind it to a composite resource, keep the two in line, and pass on what comes of it.

The claim is written before its composite resource: it then names the one that is about to be made, so if we
die in between, the next run makes that one and none is left over. A stale claim is refused by its version.
"""

from __future__ import annotations

import secrets
from typing import NoReturn

import orjson

from crossply.compose.conditions import (
    AVAILABLE,
    DELETING,
    RECONCILE_PAUSED,
    SYNCED,
    failed,
    put_conditions,
    read_conditions,
    set_conditions,
)
from crossply.compose.connection_secret import secret_place
from crossply.compose.events import NORMAL, PAUSED, WARNING, Event, StatusCondition
from crossply.compose.object_metadata import (
    finalizers_of,
    is_paused,
    name_of,
    namespace_of,
    uid_of,
)
from crossply.compose.ready_condition_cause import cause_of, with_cause
from crossply.control.apply_digests import LastApplied
from crossply.control.claims.sync import (
    FINALIZER,
    Binding,
    claim_reference,
    claim_status,
    conditions_for_claim,
    desired_claim,
    desired_composite,
    difference,
    guarded,
    is_ready,
    is_retained,
    owner_elsewhere,
    referenced_name,
    release_patch,
    spec_of,
)
from crossply.control.composite_dependency_watches import Interest
from crossply.control.composites.connection_secrets import (
    UnreportedPublications,
    propagate,
    published_at,
    withdraw,
)
from crossply.control.controller_context import Plane
from crossply.control.managed_fields_noop_check import holds, updates_as_applied, upgrade_to_apply
from crossply.control.rbac_grant_commands import explained
from crossply.errors import CrossplyError
from crossply.kinds.definition import Definition
from crossply.kube.core_kinds import SECRET
from crossply.kube.failures import KubeError, NotServed
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.values import Object

MANAGER = "crossplane"
CLAIM_MANAGER = "apiextensions.crossplane.io/claim"
BIND = "BindCompositeResource"
DELETE = "DeleteCompositeResource"
RELEASE = "ReleaseCompositeResource"
PROPAGATE = "PropagateConnectionSecret"
DETAILS = "connectionDetails"

WAITING = StatusCondition(
    "Ready", "False", "Waiting", "Claim is waiting for composite resource to become Ready"
)

# No vowels and no digits that look like letters: a name never spells a word.
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST_PREFIX = 58


class ClaimReconciler:
    """Reconciles the claims of one definition."""

    def __init__(
        self,
        plane: Plane,
        definition: Definition,
        binding: Binding,
        kind: Kind,
        composite: Kind,
        claims: Informer,
        xrs: Informer,
    ) -> None:
        self._plane = plane
        self._binding = binding
        self._kind = kind
        self._composite = composite
        self._type = (composite.api_version, composite.kind)
        self._enforced = definition.enforced_composition is not None
        self._shows_cause = definition.shows_cause
        self._claims = claims
        self._xrs = xrs
        self._applied = LastApplied()
        self._publications = UnreportedPublications()

    async def reconcile(self, claim: Object, interests: set[Interest]) -> None:
        """Bring one claim and its composite resource in line; adds to `interests` what it waits for."""
        if is_paused(claim):
            self._record(claim, NORMAL, PAUSED, RECONCILE_PAUSED.message)
            await self._write_status(claim, claim.get("status") or {}, RECONCILE_PAUSED)
            return
        xr = await self._bound(claim)
        other = owner_elsewhere(claim, xr, self._binding)
        if other:
            await self._leave_alone(claim, other)
        elif claim["metadata"].get("deletionTimestamp"):
            await self._delete_bound(claim, xr)
        else:
            claim, xr = await self._sync(claim, xr)
            await self._propagate(claim, xr, interests)

    def forget_composite(self, uid: str) -> None:
        """A composite resource is gone: keep nothing of it."""
        self._applied.forget(uid)

    async def clear_up_after(self, claim: Object) -> None:
        """A claim is gone although we held it: API servers may lose a finalizer added while they delete."""
        xr = await self._bound(claim)
        if xr is None or claim_reference(xr, self._binding) is None:
            return
        if owner_elsewhere(claim, xr, self._binding) or is_retained(xr, self._binding):
            return
        await self._plane.as_controller.delete(self._composite, name_of(xr), uid=uid_of(xr))

    async def _bound(self, claim: Object) -> Object | None:
        """The composite resource that the claim refers to, if it exists."""
        name = self._referenced(claim)
        if not name:
            return None
        data = self._xrs.get("", name)
        if data is not None:
            xr: Object = orjson.loads(data)
            return xr
        try:
            # It may be too new for the informer.
            return await self._plane.as_controller.get(self._composite, name)
        except NotServed:
            return None
        except KubeError as problem:
            await self._fail(claim, BIND, f"cannot get bound composite resource: {problem}", problem)

    def _referenced(self, claim: Object) -> str:
        return referenced_name(claim, self._binding)

    async def _leave_alone(self, claim: Object, other: str) -> None:
        """Leave alone what belongs to another: take nothing of it, and be deleted without it.

        Nothing we do can change this. A change of the composite resource enqueues the claim.
        """
        if claim["metadata"].get("deletionTimestamp"):
            if FINALIZER in finalizers_of(claim):
                await self._remove_finalizer(claim)
            return
        message = _refusal(self._referenced(claim), other)
        await withdraw(self._plane, claim)
        self._record(claim, WARNING, BIND, message)
        status = {key: value for key, value in (claim.get("status") or {}).items() if key != DETAILS}
        waiting = (WAITING,) if is_ready(claim) else ()
        await self._write_status(claim, status, *waiting, failed(message))

    async def _sync(self, claim: Object, xr: Object | None) -> tuple[Object, Object]:
        named = self._referenced(claim)
        name = named or self._new_name(name_of(claim))
        was_bound = claim_reference(xr, self._binding) is not None
        enforced, binding = self._enforced, self._binding
        try:
            xr = await self._own_fields(xr)
            bound = desired_claim(claim, xr, self._type, name, enforced=enforced, binding=binding)
            claim = await self._save(claim, bound)
            desired = desired_composite(claim, xr, self._type, name, enforced=enforced, binding=binding)
            # Others may be about to make what has a name that they know.
            xr = await (self._create(desired) if named and xr is None else self._apply(xr, desired))
        except CrossplyError as problem:
            message = f"cannot bind and sync claim with composite resource: {problem}"
            await self._fail(claim, BIND, message, problem)
        if not was_bound:
            self._record(claim, NORMAL, BIND, "Successfully bound composite resource")
        return claim, xr

    def _new_name(self, claim: str) -> str:
        prefix = f"{claim}-"[:_LONGEST_PREFIX]
        while True:
            name = prefix + "".join(secrets.choice(_LETTERS) for _ in range(5))
            if self._xrs.get("", name) is None:
                return name

    async def _own_fields(self, xr: Object | None) -> Object | None:
        """Take over what others wrote into a composite resource, so that we can also remove it again."""
        if xr is None:
            return None
        patch = updates_as_applied(xr, CLAIM_MANAGER) or upgrade_to_apply(xr, CLAIM_MANAGER)
        if not patch:
            return xr
        written = await self._plane.as_controller.patch_json(self._composite, name_of(xr), patch)
        self._xrs.record_write(written)
        return written

    async def _save(self, claim: Object, desired: Object) -> Object:
        """Write what changed on the claim itself: nothing when nothing did."""
        change = difference(desired, claim)
        if not change:
            return claim
        change.setdefault("metadata", {})["resourceVersion"] = claim["metadata"]["resourceVersion"]
        return await self._patch(claim, change)

    async def _patch(self, claim: Object, change: Object) -> Object:
        name, namespace = name_of(claim), namespace_of(claim)
        written = await self._plane.as_controller.patch_merge(self._kind, name, change, namespace, MANAGER)
        self._claims.record_write(written)
        return written

    async def _apply(self, xr: Object | None, desired: Object) -> Object:
        if xr is not None and (self._applied.holds(xr, desired) or holds(xr, desired, CLAIM_MANAGER)):
            return xr
        is_free = xr is not None and claim_reference(xr, self._binding) is None
        body = guarded(desired, xr) if xr is not None and is_free else desired
        try:
            written = await self._plane.as_controller.apply(self._composite, body, CLAIM_MANAGER)
        except KubeError as problem:
            raise problem.within("cannot apply composite resource") from None
        self._applied.remember(written, desired)
        self._xrs.record_write(written)
        return written

    async def _create(self, desired: Object) -> Object:
        """Create the composite resource; raises AlreadyExists if another client just did."""
        try:
            written = await self._plane.as_controller.create(self._composite, desired, CLAIM_MANAGER)
        except KubeError as problem:
            raise problem.within("cannot create composite resource") from None
        self._xrs.record_write(written)
        return written

    async def _propagate(self, claim: Object, xr: Object, interests: set[Interest]) -> None:
        """Copy the state of the composite resource to the claim; once it is ready, copy its secret."""
        status = claim_status(claim, xr)
        if not is_ready(xr):
            self._record(claim, NORMAL, BIND, "Composite resource is not yet ready")
            await self._write_status(claim, status, SYNCED, self._waiting(xr), xr=xr)
            return
        try:
            published = await propagate(self._plane, xr, claim)
        except CrossplyError as problem:
            interests.update(Interest(SECRET, *secret_place(owner)) for owner in (xr, claim))
            message = f"cannot propagate connection details from composite: {problem}"
            await self._fail(claim, PROPAGATE, message, problem)
        time = published_at(claim, self._plane.now()) if published else None
        time = self._publications.time_to_report(claim, time)
        if time is not None:
            status = {**status, DETAILS: {"lastPublishedTime": time}}
        if published:
            message = "Successfully propagated connection details from composite resource"
            self._record(claim, NORMAL, PROPAGATE, message)
        await self._write_status(claim, status, SYNCED, AVAILABLE, xr=xr)

    def _waiting(self, xr: Object) -> StatusCondition:
        """The condition of a claim whose composite resource is not ready, with the cause if that is shown."""
        if not self._shows_cause:
            return WAITING
        return WAITING._replace(message=with_cause(WAITING.message, cause_of(xr)))

    async def _delete_bound(self, claim: Object, xr: Object | None) -> None:
        """Delete the composite resource, then the claim: at once, or when all of it is gone."""
        if FINALIZER not in finalizers_of(claim):
            return
        if xr is not None and is_retained(xr, self._binding):
            await self._release(claim, xr)
            return
        foreground = spec_of(claim).get("compositeDeletePolicy") == "Foreground"
        if xr is not None and not (foreground and xr["metadata"].get("deletionTimestamp")):
            await self._delete(claim, xr, "Foreground" if foreground else "")
        if xr is not None and foreground:
            # The watch enqueues the claim when it is gone.
            await self._write_status(claim, claim.get("status") or {}, DELETING)
            return
        self._record(claim, NORMAL, DELETE, "Successfully deleted composite resource")
        await self._remove_finalizer(claim)

    async def _release(self, claim: Object, xr: Object) -> None:
        """Let the claim go; its composite resource stays as it is, for another claim to bind."""
        if claim_reference(xr, self._binding) is not None:
            patch = release_patch(self._binding)
            self._xrs.record_write(
                await self._plane.as_controller.patch_merge(self._composite, name_of(xr), patch)
            )
        self._record(claim, NORMAL, RELEASE, "Successfully released composite resource, which is retained")
        await self._remove_finalizer(claim)

    async def _remove_finalizer(self, claim: Object) -> None:
        self._publications.forget(uid_of(claim))
        left = [finalizer for finalizer in finalizers_of(claim) if finalizer != FINALIZER]
        claim = await self._patch(claim, {"metadata": {"finalizers": left or None}})
        if left:
            await self._write_status(claim, claim.get("status") or {}, DELETING, SYNCED)

    async def _delete(self, claim: Object, xr: Object, propagation: str) -> None:
        # An unbound one may be bound by another claim before it is deleted.
        is_free = claim_reference(xr, self._binding) is None
        version = xr["metadata"]["resourceVersion"] if is_free else ""
        name, uid = name_of(xr), uid_of(xr)
        try:
            await self._plane.as_controller.delete(
                self._composite, name, propagation=propagation, uid=uid, resource_version=version
            )
        except NotServed:
            return
        except KubeError as problem:
            await self._fail(claim, DELETE, f"cannot delete bound composite resource: {problem}", problem)

    async def _write_status(
        self, claim: Object, status: Object, *changes: StatusCondition, xr: Object | None = None
    ) -> None:
        """Write the claim's status, if it would change."""
        generation, now = claim["metadata"].get("generation", 0), self._plane.now()
        conditions = set_conditions(read_conditions(status), changes, now, generation)
        if xr is not None:
            conditions = put_conditions(conditions, conditions_for_claim(xr, generation, now))
        desired = {**status, "conditions": conditions}
        if desired == claim.get("status"):
            return
        body = {**claim, "status": desired}
        self._claims.record_write(await self._plane.as_controller.update_status(self._kind, body, MANAGER))

    async def _fail(self, claim: Object, reason: str, message: str, cause: CrossplyError) -> NoReturn:
        """Report a failure on the claim; it is retried."""
        message = explained(message, cause)
        await self._report_failure(claim, reason, message)
        raise cause.replace(message=message)

    async def _report_failure(self, claim: Object, reason: str, message: str) -> None:
        self._record(claim, WARNING, reason, message)
        changes = (DELETING,) if claim["metadata"].get("deletionTimestamp") else ()
        await self._write_status(claim, claim.get("status") or {}, *changes, failed(message))

    def _record(self, claim: Object, type_: str, reason: str, message: str) -> None:
        self._plane.recorder.record(claim, Event(type_, reason, message))


def _refusal(xr: str, other: str) -> str:
    return f'refusing to operate on composite resource "{xr}" that is not bound to this claim: {other}'
