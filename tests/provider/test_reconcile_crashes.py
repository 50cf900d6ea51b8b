"""A process that dies between any two steps of a reconcile leaks nothing and makes nothing twice."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.provider.one_resource import BUCKET, NAME, START, TICKET, OneResource, bucket

from crossply.provider import reconcile_effects
from crossply.provider.reconcile_effects import Retry

STEPS = 12
"""At least as many as a reconcile has."""

edits = st.tuples(st.just("edit"), st.integers(1, 3))
drifts = st.tuples(st.just("drift"), st.integers(1, 3))
waits = st.tuples(st.just("wait"), st.integers(1, 60))
crashes = st.tuples(st.just("crash"), st.integers(0, STEPS))
lost_answers = st.tuples(st.just("lose"), st.just(0))
histories = st.lists(edits | drifts | waits | crashes | lost_answers, max_size=12)


class Strict(OneResource):
    """An external system in which nothing may be created twice."""

    loses_answer = False

    def _create(self, effect: reconcile_effects.Create) -> reconcile_effects.Created:
        assert not self.outside, "created although it exists"
        created = super()._create(effect)
        if self.loses_answer:
            self.loses_answer = False
            return self._fail_after(created)
        return created

    def _fail_after(self, created: reconcile_effects.Created) -> reconcile_effects.Created:
        self.fails[reconcile_effects.Create] = "the answer was lost"
        try:
            return self._fail(reconcile_effects.Create(self.live))._replace(
                external_name=created.external_name
            )
        finally:
            del self.fails[reconcile_effects.Create]


def play(one: OneResource, history: list[tuple[str, int]]) -> None:
    for action, value in history:
        one.crash_at = None
        if action == "edit":
            one.live["spec"]["forProvider"]["size"] = value
            one.live["metadata"]["generation"] += 1
        elif action == "drift":
            for thing in one.outside.values():
                thing["size"] = value
        elif action == "wait":
            one.now += timedelta(seconds=value)
        elif action == "lose":
            one.loses_answer = True
        elif action == "crash":
            one.crash_at = value
        one.reconcile()


def settle(one: OneResource) -> None:
    """Reconcile without crashes until nothing changes any more."""
    one.crash_at, one.loses_answer = None, False
    for _ in range(6):
        one.now += timedelta(seconds=31)
        if one.reconcile() is None:
            return


@settings(max_examples=150, deadline=None)
@given(histories)
def test_a_known_name_heals_whatever_happened(history):
    one = Strict(bucket(), kind=BUCKET)
    play(one, history)
    settle(one)
    assert one.outside == {"mine": {"size": one.live["spec"]["forProvider"]["size"]}}
    assert one.condition("Ready")[0] == one.condition("Synced")[0] == "True"


@settings(max_examples=150, deadline=None)
@given(histories, st.lists(crashes, max_size=6))
def test_a_deleted_resource_leaves_nothing_behind(history, later):
    one = Strict(bucket(), kind=BUCKET)
    play(one, history)
    has_finalizer = bool(one.live["metadata"].get("finalizers"))
    assert has_finalizer or not one.outside, "it could go without its external resource"
    if not has_finalizer:
        return
    one.live["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    for _, step in later:
        one.crash_at = step
        one.reconcile()
    settle(one)
    assert (one.live, one.outside) == (None, {})


@settings(max_examples=150, deadline=None)
@given(st.lists(edits | waits | crashes, max_size=12))
def test_an_unknown_external_name_is_never_created_twice(history):
    one = Strict(bucket(kind=TICKET), kind=TICKET, chooses_names=True)
    play(one, history)
    settle(one)
    assert len(one.outside) <= 1
    if one.annotations[NAME] not in one.outside:
        assert one.condition("Synced")[2].startswith("cannot determine creation result")
        assert one.reconcile().requeue is None, "it waits for a user"


def test_every_single_crash_heals_in_the_next_reconciles():
    for step in range(STEPS):
        one = Strict(bucket({"writeConnectionSecretToRef": {"name": "secret"}}), crash_at=step)
        one.reconcile()
        settle(one)
        assert one.outside == {"mine": {"size": 1}}
        assert one.secret["name"] == b"mine"
        assert one.reconcile().outcome == "unchanged"


def test_a_reconcile_has_no_more_steps_than_are_tried():
    one = Strict(bucket({"writeConnectionSecretToRef": {"name": "secret"}}))
    assert one.reconcile().requeue == Retry(at_once=True)
    assert len(one.steps) < STEPS
    assert one.now > START
