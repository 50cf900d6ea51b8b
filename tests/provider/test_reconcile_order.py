"""The order of effects and events of a managed resource's reconcile, without a server."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from tests.support.provider.one_resource import BUCKET, NAME, TICKET, OneResource, bucket, settled

from crossply.provider import reconcile_effects
from crossply.provider.reconcile_effects import Poll, Retry

SYNCED = ("True", "ReconcileSuccess", "")
AVAILABLE = ("True", "Available", "")
NOW = "2026-01-02T03:04:06Z"
DELETED = {"deletionTimestamp": NOW}
SECRET = {"writeConnectionSecretToRef": {"name": "secret"}}
OUTSIDE = {"mine": {"size": 1}}


def test_a_new_resource_gets_name_and_finalizer_before_it_is_created():
    one = OneResource(bucket(SECRET))
    assert one.reconcile() == (Retry(at_once=True), "created", "")
    assert one.steps == [
        "Save external-name",
        "TrackUsage",
        "Connect",
        "Observe",
        "Publish",
        "Save external-create-pending, finalizers",
        "Create",
        "SaveAnnotations external-create-succeeded, external-name",
        "Publish",
        "WriteStatus",
    ]
    assert one.annotations == {
        NAME: "mine",
        "crossplane.io/external-create-pending": NOW,
        "crossplane.io/external-create-succeeded": NOW,
    }
    assert one.secret == {"password": b"new"}
    assert one.condition("Ready") == ("False", "Creating", "")
    assert one.condition("Synced") == SYNCED
    created = "Successfully requested creation of external resource"
    assert one.recorded_events() == [("Normal", "CreatedExternalResource", created)]


def test_the_next_reconcile_observes_it_and_the_one_after_writes_nothing():
    one = OneResource(bucket())
    one.reconcile()
    assert one.reconcile() == (Poll(60.0), "unchanged", "")
    assert one.condition("Ready") == AVAILABLE
    assert one.live["status"]["atProvider"] == {"id": "mine"}
    one.steps.clear()
    one.events.clear()
    assert one.reconcile() == (Poll(60.0), "unchanged", "")
    assert one.steps == ["TrackUsage", "Connect", "Observe"]
    assert one.events == []


def test_conditions_of_the_reconcile_carry_the_generation_and_those_of_the_provider_do_not():
    one = OneResource(settled(), outside=dict(OUTSIDE))
    one.reconcile()
    generations = {
        entry["type"]: entry.get("observedGeneration") for entry in one.live["status"]["conditions"]
    }
    assert generations == {"Ready": None, "Synced": 1}


def test_drift_is_reported_with_the_fields_and_repaired():
    one = OneResource(settled(), outside=dict(OUTSIDE))
    one.reconcile()
    one.outside["mine"] = {"size": 7}
    assert one.reconcile() == (Poll(60.0), "updated", "")
    assert one.outside == OUTSIDE
    assert one.recorded_events() == [
        ("Normal", "DriftDetected", "External resource differs from its desired state: size"),
        ("Normal", "UpdatedExternalResource", "Successfully requested update of external resource"),
    ]


def test_a_changed_spec_is_no_drift():
    one = OneResource(settled(), outside=dict(OUTSIDE))
    one.reconcile()
    one.live["spec"]["forProvider"]["size"] = 2
    one.live["metadata"]["generation"] = 2
    one.reconcile()
    assert [reason for _, reason, _ in one.recorded_events()] == ["UpdatedExternalResource"]


@pytest.mark.parametrize(
    "pause", [{"annotations": {"crossplane.io/paused": "true"}}, {"spec": {"managementPolicies": []}}]
)
def test_a_paused_resource_gets_only_a_condition(pause):
    one = OneResource(bucket(**pause))
    assert one.reconcile() == (None, "paused", "")
    assert one.steps == ["WriteStatus"]
    assert one.condition("Synced") == ("False", "ReconcilePaused", "")
    message = "Reconciliation is paused either through the `spec.managementPolicies` or the pause annotation"
    assert one.recorded_events() == [("Normal", "ReconciliationPaused", message)]


def test_policies_that_are_not_supported_are_refused_until_they_change():
    one = OneResource(bucket({"managementPolicies": ["Create", "Delete"]}))
    message = (
        "`spec.managementPolicies` is set to a value([Create Delete]) which is not supported. "
        "Check docs for supported policies"
    )
    assert one.reconcile() == (None, "failed", message)
    assert one.condition("Synced") == ("False", "ReconcileError", message)
    assert one.recorded_events() == [("Warning", "CannotUseInvalidManagementPolicy", message)]


def test_an_orphaned_resource_goes_without_a_look_outside():
    policies = {"managementPolicies": ["Observe", "Create"]}
    one = OneResource(settled(spec=policies, **DELETED), outside=dict(OUTSIDE))
    assert one.reconcile() == (None, "deleted", "")
    assert one.steps == ["Save finalizers"]
    assert (one.live, one.outside) == (None, OUTSIDE)


def test_a_deleted_resource_is_deleted_outside_observed_once_more_and_released():
    one = OneResource(settled(**DELETED), outside=dict(OUTSIDE))
    assert one.reconcile() == (Retry(at_once=True), "deleting", "")
    assert one.condition("Ready") == ("False", "Deleting", "")
    assert one.condition("Synced") == SYNCED
    assert one.reconcile() == (None, "deleted", "")
    connect = ["Connect", "Observe"]
    assert one.steps == [*connect, "Delete", "WriteStatus", *connect, "Save finalizers"]
    assert one.live is None
    message = "Successfully requested deletion of external resource"
    assert one.recorded_events() == [("Normal", "DeletedExternalResource", message)]


def test_the_external_resource_stays_while_others_hold_the_managed_one():
    one = OneResource(settled(**DELETED), outside=dict(OUTSIDE))
    one.live["metadata"]["finalizers"].append("other.example.org")
    assert one.reconcile() == (Retry(), "waiting", "")
    assert one.outside == OUTSIDE


def test_a_slow_deletion_is_polled_with_growing_pauses():
    one = OneResource(settled(**DELETED), outside=dict(OUTSIDE))
    one.reconcile()
    one.outside.update(OUTSIDE)
    assert one.reconcile() == (Retry(), "deleting", "")


def test_an_absent_observe_only_resource_is_requeued_after_the_poll_interval():
    one = OneResource(bucket({"managementPolicies": ["Observe"]}))
    message = "observe failed: external resource does not exist"
    assert one.reconcile() == (Poll(60.0), "failed", message)
    assert one.condition("Synced") == ("False", "ReconcileError", message)
    absent = "external resource does not exist"
    assert one.recorded_events() == [("Warning", "CannotObserveExternalResource", absent)]
    assert "Save finalizers" not in one.steps


def test_a_just_created_resource_gets_time_to_appear():
    one = OneResource(bucket())
    one.reconcile()
    one.outside.clear()
    assert one.reconcile() == (Retry(), "waiting", "")
    message = "Waiting for external resource existence to be confirmed"
    assert one.recorded_events()[-1] == ("Normal", "PendingExternalResource", message)
    one.now += timedelta(seconds=30)
    assert one.reconcile().outcome == "created"
    assert one.created == ["mine", "mine"]


def test_a_kind_may_have_no_grace_period():
    settings = dataclasses.replace(BUCKET.settings, creation_grace_period=0.0)
    one = OneResource(bucket(), kind=dataclasses.replace(BUCKET, settings=settings))
    one.reconcile()
    one.outside.clear()
    assert one.reconcile().outcome == "created"


def test_a_just_created_and_deleted_resource_goes_at_once():
    one = OneResource(bucket())
    one.reconcile()
    one.live["metadata"] |= DELETED
    assert [one.reconcile().outcome for _ in range(2)] == ["deleting", "deleted"]


PENDING = {"crossplane.io/external-create-pending": "2026-01-01T00:00:00Z"}


def test_an_incomplete_creation_of_an_unknown_name_needs_a_user():
    one = OneResource(bucket(kind=TICKET, annotations={NAME: "mine", **PENDING}), kind=TICKET)
    message = (
        "cannot determine creation result - remove the crossplane.io/external-create-pending annotation "
        "if it is safe to proceed"
    )
    assert one.reconcile() == (None, "failed", message)
    assert one.steps == ["WriteStatus"]
    assert one.condition("Ready") == ("False", "Creating", "")
    assert one.condition("Synced") == ("False", "ReconcileError", message)
    assert one.recorded_events() == [("Warning", "CannotInitializeManagedResource", message)]


@pytest.mark.parametrize("end", ["succeeded", "failed"])
def test_a_finished_creation_is_complete(end):
    annotations = {NAME: "mine", **PENDING, f"crossplane.io/external-create-{end}": "2026-01-01T00:00:00Z"}
    one = OneResource(bucket(kind=TICKET, annotations=annotations), kind=TICKET)
    assert one.reconcile().outcome == "created"


def test_an_incomplete_creation_of_a_known_name_goes_on():
    one = OneResource(bucket(annotations={NAME: "mine", **PENDING}))
    assert one.reconcile().outcome == "created"


def test_a_name_that_creation_chose_is_saved_with_the_result():
    one = OneResource(bucket(kind=TICKET), kind=TICKET, chooses_names=True)
    one.reconcile()
    assert one.annotations[NAME] == "chosen-0"
    assert one.reconcile().outcome == "unchanged"


def test_unset_fields_are_late_initialized_where_policy_allows():
    one = OneResource(settled(), outside=dict(OUTSIDE), late={"colour": "red"})
    one.reconcile()
    assert one.live["spec"]["forProvider"] == {"size": 1, "colour": "red"}
    assert one.steps[3:] == ["Save spec", "WriteStatus"]
    assert one.condition("Ready") == AVAILABLE
    policies = {"managementPolicies": ["Observe", "Create", "Update", "Delete"]}
    other = OneResource(settled(spec=policies), outside=dict(OUTSIDE), late={"colour": "red"})
    other.reconcile()
    assert other.live["spec"]["forProvider"] == {"size": 1}


def test_without_the_policy_nothing_is_updated_but_drift_is_reported():
    policies = {"managementPolicies": ["Observe", "Create", "Delete"]}
    one = OneResource(settled(spec=policies), outside=dict(OUTSIDE))
    one.reconcile()
    one.outside["mine"] = {"size": 7}
    assert one.reconcile() == (Poll(60.0), "unchanged", "")
    assert one.condition("Synced") == SYNCED
    assert [reason for _, reason, _ in one.recorded_events()] == ["DriftDetected"]
    assert one.outside == {"mine": {"size": 7}}


def test_a_request_is_handled_once():
    annotations = {"crossplane.io/reconcile-requested-at": "now"}
    one = OneResource(settled(annotations=annotations), outside=dict(OUTSIDE))
    one.reconcile()
    assert one.live["status"]["lastHandledReconcileAt"] == "now"
    one.reconcile()
    assert one.recorded_events() == [("Normal", "ReconcileRequestHandled", "Handling reconcile request")]


@pytest.mark.parametrize(
    ("text", "seconds"), [("10m", 600.0), ("1ms", 1.0), ("-1s", 60.0), ("soon", 60.0), ("", 60.0)]
)
def test_an_annotation_sets_the_poll_interval(text, seconds):
    annotations = {"crossplane.io/poll-interval": text}
    one = OneResource(settled(annotations=annotations), outside=dict(OUTSIDE))
    assert one.reconcile().requeue == Poll(seconds)


FAILURES = [
    (reconcile_effects.TrackUsage, "CannotConnectToProvider", "connect failed: no"),
    (reconcile_effects.Connect, "CannotConnectToProvider", "connect failed: no"),
    (reconcile_effects.Observe, "CannotObserveExternalResource", "observe failed: no"),
    (reconcile_effects.Update, "CannotUpdateExternalResource", "update failed: no"),
]


@pytest.mark.parametrize(("effect", "reason", "message"), FAILURES)
def test_an_external_failure_is_reported_and_retried(effect, reason, message):
    one = OneResource(settled(), outside={"mine": {"size": 2}}, fails={effect: "no"})
    assert one.reconcile() == (Retry(), "failed", message)
    assert one.condition("Synced") == ("False", "ReconcileError", message)
    assert one.recorded_events() == [("Warning", reason, "no")]


@pytest.mark.parametrize("effect", [reconcile_effects.Observe, reconcile_effects.Create])
def test_a_failure_is_reported_anew_after_a_success_but_not_every_time(effect):
    one = OneResource(settled())
    for outside, fails in (({}, True), ({}, True), (OUTSIDE, False), ({}, True)):
        one.outside, one.fails = dict(outside), {effect: "no"} if fails else {}
        one.reconcile()
    assert [message for _, _, message in one.recorded_events()] == ["no", "no"]


def test_a_failed_deletion_is_reported():
    one = OneResource(settled(**DELETED), outside=dict(OUTSIDE), fails={reconcile_effects.Delete: "no"})
    assert one.reconcile() == (Retry(), "failed", "delete failed: no")
    assert one.condition("Ready") == ("False", "Deleting", "")
    assert one.recorded_events() == [("Warning", "CannotDeleteExternalResource", "no")]


def test_a_failed_creation_is_annotated_before_it_is_reported():
    one = OneResource(settled(), fails={reconcile_effects.Create: "no"})
    assert one.reconcile() == (Retry(), "failed", "create failed: no")
    assert one.steps[-3:] == [
        "Create",
        "SaveAnnotations external-create-failed, external-name",
        "WriteStatus",
    ]
    assert one.condition("Ready") == ("False", "Creating", "")
    assert one.condition("Synced") == ("False", "ReconcileError", "create failed: no")
    assert one.recorded_events() == [("Warning", "CannotCreateExternalResource", "no")]


def test_a_failed_creation_whose_annotation_is_lost_is_reported_twice():
    fails = {reconcile_effects.Create: "no", reconcile_effects.SaveAnnotations: "gone"}
    one = OneResource(settled(), fails=fails)
    assert one.reconcile() == (Retry(), "failed", "create failed: no")
    lost = "cannot update managed resource annotations: cannot update critical annotations: gone"
    assert one.recorded_events() == [
        ("Warning", "CannotCreateExternalResource", "no"),
        ("Warning", "CannotUpdateManagedResource", lost),
    ]


def test_details_that_cannot_be_published_are_reported():
    one = OneResource(settled(spec=SECRET), outside=dict(OUTSIDE), fails={reconcile_effects.Publish: "taken"})
    message = "cannot create or update connection secret: taken"
    assert one.reconcile() == (Retry(), "failed", message)
    assert one.recorded_events() == [("Warning", "CannotPublishConnectionDetails", message)]


def test_a_finalizer_that_cannot_be_written_has_a_condition_only():
    outside, fails = dict(OUTSIDE), {reconcile_effects.Save: "refused"}
    one = OneResource(bucket(annotations={NAME: "mine"}), outside=outside, fails=fails)
    assert one.reconcile() == (Retry(), "failed", "cannot update object: refused")
    assert one.events == []
