"""The conditions of a package about its current revision."""

from __future__ import annotations

import pytest

from crossply.control.package_manager.package_health import AWAITING, HEALTHY, UNHEALTHY, health_of


def revision(**conditions):
    listed = []
    for type_, value in conditions.items():
        status, _, rest = value.partition(":")
        reason, _, message = rest.partition(":")
        listed.append({"type": type_, "status": status, "reason": reason, "message": message})
    return {"status": {"conditions": listed}}


def unhealthy(message):
    return UNHEALTHY._replace(message=message)


WELL = {"RevisionHealthy": "True", "RuntimeHealthy": "True"}
CASES = {
    "nothing is known yet": ({}, True, False, unhealthy('Package revision health is "Unknown"')),
    "both are well": (WELL, True, False, HEALTHY),
    "what is not run needs no runtime": ({"RevisionHealthy": "True"}, False, False, HEALTHY),
    "the runtime is not known yet": (
        {"RevisionHealthy": "True"},
        True,
        False,
        unhealthy('Package runtime health is "Unknown"'),
    ),
    "the revision comes first": (
        {"RevisionHealthy": "False::no such image", "RuntimeHealthy": "False::no Pod"},
        True,
        False,
        unhealthy('Package revision health is "False" with message: no such image'),
    ),
    "the runtime says why": (
        {**WELL, "RuntimeHealthy": "False::no Pod"},
        True,
        False,
        unhealthy('Package runtime health is "False" with message: no Pod'),
    ),
    "it waits to be needed": ({**WELL, "RuntimeActive": "False:AwaitingActivation"}, True, False, AWAITING),
    "without a package it is well at once": ({}, True, True, HEALTHY),
    "unless it says otherwise": (
        {"RuntimeHealthy": "False::it ended"},
        True,
        True,
        unhealthy('Package runtime health is "False" with message: it ended'),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_health_is_that_of_the_revision_then_that_of_its_runtime(case):
    conditions, has_runtime, local, expected = case
    assert health_of(revision(**conditions), has_runtime, local) == expected
