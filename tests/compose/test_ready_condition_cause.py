"""The cause in a Ready condition: read off what was observed, the same at each attempt."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.composed_resources import Composed
from crossply.compose.function_messages import Snapshot
from crossply.compose.ready_condition_cause import (
    cause_in,
    cause_of,
    cause_of_unready,
    refusal_sentence,
    stable_sentence,
    with_cause,
)


def resource(name: str, **conditions: tuple[str, str]) -> dict[str, Any]:
    entries = [
        {"type": type_, "status": status, "reason": "R", "message": message}
        for type_, (status, message) in conditions.items()
    ]
    return {"kind": "Bucket", "metadata": {"name": name}, "status": {"conditions": entries}}


def composed(name: str, ready: bool = False, **conditions: tuple[str, str]) -> Composed:
    obj = resource(name, **conditions)
    return Composed(name, obj, ready, Snapshot(obj))


def test_the_first_unready_resource_with_a_reason_is_the_cause() -> None:
    resources = [
        composed("a", ready=True, Synced=("False", "it is ready all the same")),
        composed("b"),
        composed("c", Synced=("False", "no such region"), Ready=("False", "")),
    ]
    assert cause_of_unready(resources, {}) == "Bucket/c: no such region"
    assert cause_of_unready(resources[:2], {}) == ""


def test_a_resource_that_says_nothing_may_not_meet_a_readiness_check() -> None:
    check = {"type": "MatchString", "fieldPath": "spec.phase", "matchString": "up"}
    inputs = [None, {"resources": [{"name": "b", "readinessChecks": [check]}]}]
    explained = composed("c", Synced=("False", "no such region"))
    cause = 'Bucket/b: readiness check is not met: spec.phase must be "up"'
    assert cause_of_unready([composed("b"), explained], {}, inputs) == cause
    absent = composed("b")._replace(observed=None)
    assert cause_of_unready([absent, explained], {}, inputs) == "Bucket/c: no such region"


def test_a_refused_resource_names_the_fields_in_their_order() -> None:
    reason = 'Bucket "b" is invalid: [spec.z: Invalid value: 1: no, spec.a[0].b: Required value]'
    assert refusal_sentence(reason) == "invalid: spec.a[0].b, spec.z"
    assert cause_of_unready([composed("b")], {"b": reason}) == "Bucket/b: invalid: spec.a[0].b, spec.z"


def test_the_cause_of_a_composed_xr_is_the_one_in_its_own_condition() -> None:
    ready = with_cause("Unready resources: a", "Disk/d: full")
    assert cause_of(resource("xr", Ready=("False", ready))) == "Disk/d: full"
    unsynced = ("False", "Unsynced resources: a")
    assert cause_of(resource("xr", Ready=("False", ready), Synced=unsynced)) == "Disk/d: full"
    failed = ("False", 'pipeline step "a" failed')
    assert cause_of(resource("xr", Ready=("False", ready), Synced=failed)) == (
        'Bucket/xr: pipeline step "a" failed'
    )


def test_a_message_without_a_cause_stays_as_it_is() -> None:
    assert with_cause("Unready resources: a", "") == "Unready resources: a"
    assert with_cause("", "why") == "cause: why"
    assert [cause_in(text) for text in ("Unready resources: a", "cause: why")] == ["", "why"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("two\nlines", "two lines"),
        ("failed after 1.52s", "failed after …"),
        ("dial tcp 10.0.0.1:41234->10.0.0.2:443: refused", "dial tcp 10.0.0.1:…->10.0.0.2:443: refused"),
        ("at 2026-01-01T00:00:00Z it ended", "at … it ended"),
        ("uid 0b343b74-5e74-4760-acfd-b99a4d11ca66 is taken", "uid … is taken"),
        ("StatusCode: 403, RequestID: ABC123, denied", "StatusCode: 403, RequestID: … denied"),
        ("port 70000 is too large", "port 70000 is too large"),
        ("x" * 400, "x" * 300 + "…"),
    ],
)
def test_parts_that_differ_between_attempts_are_removed(text: str, sentence: str) -> None:
    assert stable_sentence(text) == sentence
