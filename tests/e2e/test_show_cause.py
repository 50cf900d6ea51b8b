"""The deepest cause in the Ready conditions of XR and claim, where the definition enables it."""

from __future__ import annotations

import pytest

from tests.support.e2e.pipelines import AUTO_READY, builtin
from tests.support.e2e.scenario import DEFINITION, Scenario
from tests.support.e2e.things import CREATING, custom_kind, message_of

pytestmark = pytest.mark.xdist_group("e2e")

WAITING = "Claim is waiting for composite resource to become Ready"
WHEN = "2026-01-01T00:00:00Z"


async def show_cause(s: Scenario, value: str | None) -> None:
    patch = {"metadata": {"annotations": {"crossply.dev/show-cause": value}}}
    await s.client.patch_merge(DEFINITION, s.xrs.resource, patch)


async def test_the_cause_goes_up_to_the_claim_and_is_written_once(s: Scenario) -> None:
    buckets = await custom_kind(s)
    await s.offer()
    base = {"apiVersion": f"{s.group}/v1", "kind": "Bucket", "metadata": {"namespace": s.id}}
    unsaid = {"readinessChecks": [{"type": "MatchString", "fieldPath": "x", "matchString": "never"}]}
    step = s.config_map(name="bucket", base=base, patches=[], **unsaid)
    await s.compose(step, await builtin(s, AUTO_READY))
    claim = await s.claim("mine")
    claim = await s.claim_that_is("mine", lambda claim: claim["spec"].get("resourceRef"))
    name = claim["spec"]["resourceRef"]["name"]
    xr = await s.until(s.xrs, name, lambda xr: CREATING(xr) and xr["spec"].get("resourceRefs"))
    bucket = xr["spec"]["resourceRefs"][0]["name"]

    async def fail(message: str) -> None:
        condition = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": message}
        status = {"status": {"conditions": [{**condition, "lastTransitionTime": WHEN}]}}
        await s.client.patch_merge(buckets, bucket, status, s.id, subresource="status")

    await fail("no such region, request id: 4711")
    xr = await s.until(s.xrs, name, CREATING)
    assert message_of(xr, "Ready") == "Unready resources: bucket", "as elsewhere, unless it is asked for"

    await show_cause(s, "true")
    cause = f"cause: Bucket/{bucket}: no such region, request id: …"
    claim = await s.claim_that_is("mine", lambda claim: message_of(claim, "Ready") == f"{WAITING}; {cause}")
    xr = await s.until(s.xrs, name, CREATING)
    assert message_of(xr, "Ready") == f"Unready resources: bucket; {cause}"

    await fail("no such region, request id: 4712")
    await fail("no such zone")
    await s.claim_that_is("mine", lambda claim: message_of(claim, "Ready").endswith("no such zone"))
    written = [await s.writes(kind.plural) for kind in (s.claims, s.xrs)]
    await fail("no such zone, request id: 1")
    await s.claim_that_is("mine", lambda claim: message_of(claim, "Ready").endswith("request id: …"))
    once = [await s.writes(kind.plural) for kind in (s.claims, s.xrs)]
    assert [after - before for before, after in zip(written, once, strict=True)] == [1, 1]
    await fail("no such zone, request id: 2")
    await show_cause(s, None)
    await s.claim_that_is("mine", lambda claim: message_of(claim, "Ready") == WAITING)
    last = [await s.writes(kind.plural) for kind in (s.claims, s.xrs)]
    assert [after - before for before, after in zip(once, last, strict=True)] == [1, 1], (
        "none for the same cause"
    )
