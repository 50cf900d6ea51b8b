"""Management policies: which are supported, and what they allow."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from crossply.provider.management_policies import (
    CREATE,
    LATE_INITIALIZE,
    SUPPORTED,
    UPDATE,
    policies_of,
)

ACTIONS = ("Observe", "Create", "Update", "Delete", "LateInitialize")
SETS = list(chain.from_iterable(combinations(ACTIONS, count) for count in range(6)))


def policies(actions, **spec):
    return policies_of({"spec": {"managementPolicies": list(actions), **spec}})


def test_fifteen_sets_are_supported_and_all_of_them_observe():
    assert len(SUPPORTED) == 15
    assert all({"Observe", "*"} & actions for actions in SUPPORTED if actions)
    assert sum(policies(actions).problem is None for actions in SETS) == 14


@pytest.mark.parametrize("actions", [("Observe", "Update", "Delete"), ("Create",), ("*", "Observe")])
def test_others_are_not(actions):
    assert "which is not supported. Check docs for supported policies" in policies(actions).problem


def test_everything_is_allowed_where_nothing_is_written():
    everything = policies_of({"spec": {}})
    assert all(everything.can(action) for action in (CREATE, UPDATE, LATE_INITIALIZE))
    assert everything.can_delete
    assert everything.problem is None
    assert not everything.is_paused


def test_an_empty_list_pauses_and_observe_alone_only_observes():
    assert policies(()).is_paused
    assert policies(("Observe",)).only_observes


@pytest.mark.parametrize(
    ("actions", "deletion", "is_allowed", "reason"),
    [
        (("*",), "Delete", True, "both say so"),
        (("*",), "Orphan", False, "the policy that is not the default counts"),
        (("Observe", "Delete"), "Orphan", True, "an explicit Delete counts more"),
        (("Observe", "Create"), "Delete", False, "the actions leave it out"),
    ],
)
def test_the_older_deletion_policy(actions, deletion, is_allowed, reason):
    assert policies(actions, deletionPolicy=deletion).can_delete is is_allowed, reason
