"""The status fields of legacy composite resources that concern their claim."""

from __future__ import annotations

from crossply.compose.events import StatusCondition
from crossply.compose.ready_and_synced_conditions import legacy_status

FOR_CLAIM = StatusCondition("Net", "True", "R", for_claim=True)
FOR_COMPOSITE = StatusCondition("Internal", "True", "R")


def test_condition_types_for_the_claim_only_ever_grow():
    first = legacy_status({}, (FOR_COMPOSITE, FOR_CLAIM))
    assert first == {"claimConditionTypes": ["Net"]}
    assert legacy_status(first, ()) == first
    more = legacy_status(first, (FOR_CLAIM, FOR_CLAIM._replace(type="Disk")))
    assert more == {"claimConditionTypes": ["Net", "Disk"]}


def test_the_time_of_publication_stays_until_the_next():
    live = {"connectionDetails": {"lastPublishedTime": "t1"}, "address": "a", "conditions": []}
    assert legacy_status(live, ()) == {"connectionDetails": {"lastPublishedTime": "t1"}}
    assert legacy_status(live, (), "t2") == {"connectionDetails": {"lastPublishedTime": "t2"}}
    assert legacy_status({}, ()) == {}
