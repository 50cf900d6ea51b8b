"""One reconcile of a managed resource, without I/O: what is read, decided, written and reported, in order.

The order of writes is what survives a crash. The external name is saved before anything is observed, the
finalizer before creation, `external-create-pending` right before it; afterwards how it ended, together with
the name. So a later reconcile knows whether something unrecorded may exist outside.

An annotation of the resource can change how often it is observed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from crossply.compose.conditions import CREATING, DELETING, SYNCED, failed
from crossply.compose.events import NORMAL, WARNING, StatusCondition
from crossply.compose.object_metadata import (
    annotations_of,
    finalizers_of,
    is_being_deleted,
    is_paused,
    name_of,
)
from crossply.errors import CrossplyError
from crossply.provider.context import EXTERNAL_NAME
from crossply.provider.creation import (
    CANNOT_UPDATE_MANAGED,
    FINALIZER,
    UPDATE_MANAGED,
    create_external,
    is_creation_incomplete,
    was_just_created,
    with_finalizer,
)
from crossply.provider.managed_kind import ManagedKind
from crossply.provider.managed_state import ManagedState, StepFailed, annotated, with_finalizers
from crossply.provider.management_policies import CREATE, LATE_INITIALIZE, UPDATE, policies_of
from crossply.provider.reconcile_effects import (
    ApplyReferences,
    Connect,
    Delete,
    Effect,
    Effects,
    External,
    Observe,
    Poll,
    Reconciled,
    Retry,
    TrackUsage,
    Update,
)
from crossply.provider.references import applied_spec, resolve_references
from crossply.values import Object
from crossply.values.durations import parse_duration

REQUESTED_AT = "crossplane.io/reconcile-requested-at"
RECONCILE_PAUSED = StatusCondition("Synced", "False", "ReconcilePaused")

CANNOT_INITIALIZE = "CannotInitializeManagedResource"
CANNOT_OBSERVE = "CannotObserveExternalResource"
CANNOT_RESOLVE = "CannotResolveResourceReferences"

PAUSED = "Reconciliation is paused either through the `spec.managementPolicies` or the pause annotation"
INCOMPLETE = (
    "cannot determine creation result - remove the crossplane.io/external-create-pending annotation "
    "if it is safe to proceed"
)
ABSENT = "external resource does not exist"
_POLL_INTERVAL = "crossplane.io/poll-interval"
_SHORTEST = 1.0
"""Seconds; what an annotation asks for less is this."""


def reconcile_managed(
    resource: Object, kind: ManagedKind, now: Callable[[], datetime]
) -> Effects[Reconciled]:
    """Bring the external resource of a managed resource in line with it."""
    reconciliation = _Reconciliation(resource, kind, now)
    try:
        return (yield from reconciliation.run())
    except StepFailed as failure:
        return (yield from reconciliation.fail(failure))


class _Reconciliation:
    """One reconcile under way."""

    def __init__(self, resource: Object, kind: ManagedKind, now: Callable[[], datetime]) -> None:
        self._state = ManagedState(resource, now)
        self._kind = kind
        self._policies = policies_of(resource)

    def run(self) -> Effects[Reconciled]:
        state = self._state
        if is_paused(state.live) or self._policies.is_paused:
            return (yield from self._pause())
        yield from self._accept_request()
        if self._policies.problem:
            return (yield from self._refuse_policies(self._policies.problem))
        if is_being_deleted(state.live) and not self._policies.can_delete:
            return (yield from self._release())
        yield from self._initialize_name()
        if is_creation_incomplete(state.live) and not self._kind.settings.deterministic_external_name:
            return (yield from self._refuse_incomplete())
        if not is_being_deleted(state.live):
            yield from self._resolve_references()
        external = yield from self._observe()
        if external is None and self._policies.only_observes:
            return (yield from self._report_absent())
        if external is None and self._may_still_appear():
            message = "Waiting for external resource existence to be confirmed"
            yield from state.record_event(NORMAL, "PendingExternalResource", message)
            return Reconciled(Retry(), "waiting")
        if is_being_deleted(state.live):
            return (yield from self._delete(external))
        return (yield from self._bring_in_line(external))

    def fail(self, failure: StepFailed) -> Effects[Reconciled]:
        """Report a failure; it is tried again."""
        yield from self._state.report(failure)
        return Reconciled(Retry(), "failed", failure.message)

    def _pause(self) -> Effects[Reconciled]:
        yield from self._state.record_event(NORMAL, "ReconciliationPaused", PAUSED)
        yield from self._state.write_status(RECONCILE_PAUSED)
        return Reconciled(None, "paused")

    def _accept_request(self) -> Effects[None]:
        token = self._state.annotations.get(REQUESTED_AT, "")
        handled = (self._state.live.get("status") or {}).get("lastHandledReconcileAt")
        if token and token != handled:
            yield from self._state.record_event(
                NORMAL, "ReconcileRequestHandled", "Handling reconcile request"
            )
            self._state.handled_request = token

    def _refuse_policies(self, problem: str) -> Effects[Reconciled]:
        """Only another spec can help."""
        yield from self._state.record_event(WARNING, "CannotUseInvalidManagementPolicy", problem)
        yield from self._state.write_status(failed(problem))
        return Reconciled(None, "failed", problem)

    def _refuse_incomplete(self) -> Effects[Reconciled]:
        """Only a user can find out what exists."""
        yield from self._state.record_event(WARNING, CANNOT_INITIALIZE, INCOMPLETE)
        yield from self._state.write_status(CREATING, failed(INCOMPLETE))
        return Reconciled(None, "failed", INCOMPLETE)

    def _initialize_name(self) -> Effects[None]:
        state = self._state
        if not state.annotations.get(EXTERNAL_NAME):
            desired = annotated(state.live, {EXTERNAL_NAME: name_of(state.live)})
            yield from state.save(
                desired, reason=CANNOT_INITIALIZE, prefix=UPDATE_MANAGED, event_prefix=UPDATE_MANAGED
            )

    def _resolve_references(self) -> Effects[None]:
        state = self._state
        try:
            resolved = yield from resolve_references(state.live, self._kind.parameters)
        except CrossplyError as problem:
            prefix = "cannot resolve references"
            raise StepFailed(problem, reason=CANNOT_RESOLVE, prefix=prefix, event_prefix=prefix) from problem
        if resolved is not None:
            prefix = "cannot patch the managed resource via server-side apply"
            effect = ApplyReferences(state.live, applied_spec(state.live, resolved))
            state.live = yield from state.attempt(
                effect, reason=CANNOT_RESOLVE, prefix=prefix, event_prefix=prefix
            )

    def _observe(self) -> Effects[External | None]:
        state = self._state
        writes = self._policies.can(CREATE) or self._policies.can(UPDATE)
        allow_missing = is_being_deleted(state.live) or not writes
        steps: list[Effect] = [Connect(state.live, allow_missing)]
        if not is_being_deleted(state.live):
            # A namespace that is being deleted takes no new usage, and the old one may be gone already.
            steps.insert(0, TrackUsage(state.live))
        for effect in steps:
            yield from state.attempt(effect, reason="CannotConnectToProvider", prefix="connect failed")
        external: External | None = yield from state.attempt(
            Observe(state.live), reason=CANNOT_OBSERVE, prefix="observe failed"
        )
        if external is not None:
            state.observe(external.ready, external.at_provider)
        return external

    def _report_absent(self) -> Effects[Reconciled]:
        yield from self._state.record_event(WARNING, CANNOT_OBSERVE, ABSENT)
        message = f"observe failed: {ABSENT}"
        yield from self._state.write_status(failed(message))
        return Reconciled(self._poll(), "failed", message)

    def _delete(self, external: External | None) -> Effects[Reconciled]:
        state = self._state
        if len(finalizers_of(state.live)) > 1:
            # Others still need what is outside.
            return Reconciled(Retry(), "waiting")
        if external is None:
            return (yield from self._release())
        is_first = not self._has_deleted()
        reason = "CannotDeleteExternalResource"
        yield from state.attempt(Delete(state.live), reason=reason, prefix="delete failed", ready=DELETING)
        message = "Successfully requested deletion of external resource"
        yield from state.record_event(NORMAL, "DeletedExternalResource", message)
        yield from state.write_status(DELETING, SYNCED)
        # Most external systems have deleted it by now; the others get a growing pause.
        return Reconciled(Retry(at_once=is_first), "deleting")

    def _may_still_appear(self) -> bool:
        """It was created a moment ago, and some external systems show what they have a little later."""
        state, grace_period = self._state, self._kind.settings.creation_grace_period
        return was_just_created(state.live, state.now(), grace_period) and not self._has_deleted()

    def _has_deleted(self) -> bool:
        """An earlier reconcile deleted what it observed: nothing that was just created is still to appear."""
        state = self._state
        return is_being_deleted(state.live) and state.condition("Ready").get("reason") == DELETING.reason

    def _release(self) -> Effects[Reconciled]:
        """Let the managed resource go. Its connection Secret goes with it, as it is owned by it."""
        state = self._state
        finalizers = finalizers_of(state.live)
        if FINALIZER in finalizers:
            desired = with_finalizers(state.live, [other for other in finalizers if other != FINALIZER])
            yield from state.save(desired, reason="", prefix="cannot update object", ready=DELETING)
        return Reconciled(None, "deleted")

    def _bring_in_line(self, external: External | None) -> Effects[Reconciled]:
        state = self._state
        if external is None and self._policies.can(CREATE):
            return (yield from create_external(state))
        yield from state.publish({} if external is None else external.details)
        if FINALIZER not in finalizers_of(state.live):
            yield from state.save(with_finalizer(state.live), reason="", prefix="cannot update object")
        if external is not None and self._policies.can(LATE_INITIALIZE):
            yield from self._late_initialize(external)
        if external is not None and external.is_up_to_date:
            yield from state.write_status(SYNCED)
            return Reconciled(self._poll(), "unchanged")
        can_update = self._policies.can(UPDATE)
        yield from self._record_drift(external, is_repeatable=can_update)
        if can_update:
            return (yield from self._update())
        yield from state.write_status(SYNCED)
        return Reconciled(self._poll(), "unchanged")

    def _late_initialize(self, external: External) -> Effects[None]:
        state = self._state
        desired = state.live
        if external.late_initialized:
            parameters = {**(state.spec.get("forProvider") or {}), **external.late_initialized}
            desired = {**desired, "spec": {**state.spec, "forProvider": parameters}}
        if external.external_name and external.external_name != state.annotations.get(EXTERNAL_NAME):
            desired = annotated(desired, {EXTERNAL_NAME: external.external_name})
        if desired is not state.live:
            yield from state.save(desired, reason=CANNOT_UPDATE_MANAGED, prefix=UPDATE_MANAGED)

    def _update(self) -> Effects[Reconciled]:
        state = self._state
        details = yield from state.attempt(
            Update(state.live), reason="CannotUpdateExternalResource", prefix="update failed"
        )
        yield from state.publish(details)
        message = "Successfully requested update of external resource"
        yield from state.record_event(NORMAL, "UpdatedExternalResource", message, is_repeatable=True)
        yield from state.write_status(SYNCED)
        return Reconciled(self._poll(), "updated")

    def _record_drift(self, external: External | None, *, is_repeatable: bool) -> Effects[None]:
        """Name the fields that differ, unless it is the spec that was changed."""
        if external is not None and external.differing and self._state.was_in_sync():
            message = f"External resource differs from its desired state: {', '.join(external.differing)}"
            yield from self._state.record_event(NORMAL, "DriftDetected", message, is_repeatable=is_repeatable)

    def _poll(self) -> Poll:
        return Poll(_poll_interval(self._state.live, self._kind.settings.poll_interval))


def _poll_interval(resource: Object, default: float) -> float:
    """Seconds between observations: what the resource's annotation says, else the default."""
    try:
        seconds = parse_duration(annotations_of(resource).get(_POLL_INTERVAL, "")) / 1e9
    except ValueError:
        return default
    return max(seconds, _SHORTEST) if seconds > 0 else default
