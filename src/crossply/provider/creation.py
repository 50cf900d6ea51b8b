"""The creation of an external resource, in an order that survives a crash.

The finalizer and `external-create-pending` are saved before it, how it ended and the external name right
after it. So a later reconcile knows whether something unrecorded may exist outside: the annotations around
creation say so.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from crossply.compose.conditions import CREATING, SYNCED, read_conditions
from crossply.compose.events import NORMAL, WARNING
from crossply.compose.object_metadata import annotations_of, finalizers_of
from crossply.errors import CrossplyError
from crossply.provider.context import EXTERNAL_NAME
from crossply.provider.external_error import ExternalFailure
from crossply.provider.managed_state import ManagedState, StepFailed, annotated, with_finalizers
from crossply.provider.reconcile_effects import Create, Created, Effects, Reconciled, Retry, SaveAnnotations
from crossply.values import Object
from crossply.values.timestamps import format_timestamp, parse_timestamp

CREATE_PENDING = "crossplane.io/external-create-pending"
_CREATE_SUCCEEDED = "crossplane.io/external-create-succeeded"
CREATE_FAILED = "crossplane.io/external-create-failed"
FINALIZER = "finalizer.managedresource.crossplane.io"
CANNOT_UPDATE_MANAGED = "CannotUpdateManagedResource"
UPDATE_MANAGED = "cannot update managed resource"
SAVE_CREATION = "cannot update managed resource annotations: cannot update critical annotations"


def create_external(state: ManagedState) -> Effects[Reconciled]:
    """Create the external resource."""
    # A Secret of another owner must be detected before there is something to write to it.
    yield from state.publish({}, may_create=False)
    # It also makes sure that this is the latest version: a conflict ends the reconcile here.
    yield from state.save(
        annotated(with_finalizer(state.live), _pending_creation(state.now())),
        reason=CANNOT_UPDATE_MANAGED,
        prefix=UPDATE_MANAGED,
        event_prefix=UPDATE_MANAGED,
        ready=CREATING,
    )
    created: Created = yield Create(state.live)
    if created.failure is not None:
        return (yield from _report_failure(state, created, created.failure))
    state.live = yield from state.attempt(
        _save_outcome(state, created, succeeded=True),
        reason=CANNOT_UPDATE_MANAGED,
        prefix=SAVE_CREATION,
        event_prefix=SAVE_CREATION,
        ready=CREATING,
    )
    yield from state.publish(created.details, ready=CREATING)
    message = "Successfully requested creation of external resource"
    yield from state.record_event(NORMAL, "CreatedExternalResource", message, is_repeatable=True)
    yield from state.write_status(CREATING, SYNCED)
    return Reconciled(Retry(at_once=True), "created")


def _report_failure(state: ManagedState, created: Created, failure: ExternalFailure) -> Effects[Reconciled]:
    failed = StepFailed(failure, prefix="create failed", ready=CREATING)
    if not failure.is_conflict:
        is_new = state.condition("Synced").get("message") != failed.message
        yield from state.record_event(
            WARNING, "CannotCreateExternalResource", str(failure), is_repeatable=is_new
        )
    try:
        state.live = yield _save_outcome(state, created, succeeded=False)
    except CrossplyError as problem:
        # The condition says why creating failed, which helps more.
        yield from state.record_event(WARNING, CANNOT_UPDATE_MANAGED, f"{SAVE_CREATION}: {problem}")
    yield from state.report(failed)
    return Reconciled(Retry(), "failed", failed.message)


def _save_outcome(state: ManagedState, created: Created, *, succeeded: bool) -> SaveAnnotations:
    name = created.external_name or state.annotations.get(EXTERNAL_NAME, "")
    return SaveAnnotations(state.live, _creation_outcome(state.now(), name, succeeded=succeeded))


def with_finalizer(resource: Object) -> Object:
    """The resource with the finalizer that keeps it until its external resource is gone."""
    finalizers = finalizers_of(resource)
    return resource if FINALIZER in finalizers else with_finalizers(resource, [*finalizers, FINALIZER])


def is_creation_incomplete(resource: Object) -> bool:
    """A creation began, and it is not known how it ended."""
    annotations = annotations_of(resource)
    pending = parse_timestamp(annotations.get(CREATE_PENDING))
    ends = [parse_timestamp(annotations.get(name)) for name in (_CREATE_SUCCEEDED, CREATE_FAILED)]
    return pending is not None and all(end is None or pending > end for end in ends)


def is_created(resource: Object) -> bool:
    """The external resource was created, or found ready to be used."""
    conditions = read_conditions(resource.get("status"))
    is_ready = any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)
    return is_ready or _CREATE_SUCCEEDED in annotations_of(resource)


def was_just_created(resource: Object, now: datetime, grace_period: float) -> bool:
    """The creation succeeded within so many seconds."""
    succeeded = parse_timestamp(annotations_of(resource).get(_CREATE_SUCCEEDED))
    return succeeded is not None and now - succeeded < timedelta(seconds=grace_period)


def _pending_creation(now: datetime) -> dict[str, str]:
    """What is written before a creation."""
    return {CREATE_PENDING: format_timestamp(now)}


def _creation_outcome(now: datetime, external_name: str, *, succeeded: bool) -> dict[str, str]:
    """What is written after a creation."""
    end = _CREATE_SUCCEEDED if succeeded else CREATE_FAILED
    return {EXTERNAL_NAME: external_name, end: format_timestamp(now)}
