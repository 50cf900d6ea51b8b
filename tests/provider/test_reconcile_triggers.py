"""What has a managed resource reconciled before its poll interval is over."""

from __future__ import annotations

import orjson
import pytest
from tests.support.provider.one_resource import BUCKET, OWNER, bucket

from crossply.kube.core_kinds import SECRET
from crossply.provider.reconcile_triggers import ReadObject, ReconcileTriggers, desired_state_changed

MINE, OTHER = ("here", "mine"), ("here", "other")


def encoded(obj=None, **metadata):
    obj = obj or bucket()
    return orjson.dumps({**obj, "metadata": {**obj["metadata"], **metadata}})


@pytest.mark.parametrize(
    ("change", "wakes"),
    [
        ({"generation": 2}, True),
        ({"labels": {"a": "b"}}, True),
        ({"annotations": {"a": "b"}}, True),
        ({"annotations": {"crossplane.io/external-create-succeeded": "now"}}, True),
        ({"annotations": {"crossplane.io/external-create-pending": "now"}}, False),
        ({"annotations": {"crossplane.io/external-create-failed": "now"}}, False),
        ({"deletionTimestamp": "now"}, True),
        ({"finalizers": ["a"]}, False),
        ({"resourceVersion": "7"}, False),
    ],
)
def test_a_change_enqueues_unless_the_reconcile_wrote_it(change, wakes):
    assert desired_state_changed(encoded(), encoded(**change)) is wakes


def test_removed_finalizers_of_others_enqueue_a_deleted_resource():
    before = encoded(deletionTimestamp="now", finalizers=["mine", "other"])
    assert desired_state_changed(before, encoded(deletionTimestamp="now", finalizers=["mine"]))


def test_creations_and_deletions_enqueue():
    assert desired_state_changed(None, encoded())
    assert desired_state_changed(encoded(), None)


def waiting(*reads):
    keys = []
    wakeups = ReconcileTriggers(keys.append)
    wakeups.wait(MINE, reads)
    return wakeups, keys


def test_a_resource_waits_for_the_objects_it_names():
    wakeups, keys = waiting(ReadObject(OWNER.kind, "here", "a"))
    wakeups.changed(OWNER.kind, ("here", "b"), None, encoded())
    wakeups.changed(OWNER.kind, ("there", "a"), None, encoded())
    wakeups.changed(BUCKET.kind, ("here", "a"), None, encoded())
    assert keys == []
    wakeups.changed(OWNER.kind, ("here", "a"), None, encoded())
    assert keys == [MINE]


def test_a_selector_waits_for_any_of_its_namespace_that_can_matter():
    wakeups, keys = waiting(ReadObject(OWNER.kind, "here"))
    wakeups.changed(OWNER.kind, ("here", "b"), encoded(), encoded(resourceVersion="7"))
    assert keys == []
    wakeups.changed(OWNER.kind, ("here", "b"), encoded(), encoded(labels={"a": "b"}))
    assert keys == [MINE]


def test_every_change_of_a_secret_counts():
    wakeups, keys = waiting(ReadObject(SECRET, "here", "a"))
    wakeups.changed(SECRET, ("here", "a"), encoded(), encoded(resourceVersion="7"))
    assert keys == [MINE]


def test_a_resource_that_waits_no_longer_is_not_enqueued():
    wakeups, keys = waiting(ReadObject(SECRET, "here", "a"))
    wakeups.wait(OTHER, [ReadObject(SECRET, "here", "a")])
    wakeups.wait(MINE, ())
    wakeups.changed(SECRET, ("here", "a"), None, encoded())
    assert keys == [OTHER]
    wakeups.wait(OTHER, ())
    assert wakeups._waiting == {}
