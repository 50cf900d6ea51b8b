"""Readiness (reference: reconcile §§1, 7): what makes an XR ready, and what decides."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    READY_UNSPECIFIED,
    Resource,
    Response,
    State,
)
from tests.support.e2e.pipelines import AUTO_READY, SIZE, builtin, calling, entry, resources, served
from tests.support.e2e.scenario import CONFIG_MAP
from tests.support.e2e.things import CREATING, READY, SYNCED, Things, config_map, custom_kind, message_of

pytestmark = pytest.mark.xdist_group("e2e")


async def test_an_xr_is_ready_once_all_its_resources_are(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", ready="yes"), entry("two", ready="yes")))
    await things.apply("mine")
    xr = await things.until("mine", SYNCED, CREATING)
    assert message_of(xr, "Ready") == "Unready resources: one, two"
    composed = await things.composed(xr)
    await s.client.patch_merge(
        CONFIG_MAP, composed["one"]["metadata"]["name"], {"data": {"ready": "yes"}}, s.id
    )
    xr = await things.until("mine", lambda xr: message_of(xr, "Ready") == "Unready resources: two")
    await s.client.patch_merge(
        CONFIG_MAP, composed["two"]["metadata"]["name"], {"data": {"ready": "yes"}}, s.id
    )
    await things.until("mine", READY)
    await s.client.patch_merge(
        CONFIG_MAP, composed["one"]["metadata"]["name"], {"data": {"ready": "no"}}, s.id
    )
    await things.until("mine", SYNCED, CREATING)


async def test_without_a_deciding_function_nothing_is_ready(s):
    """The engine never looks at a resource's own conditions: an unspecified readiness is not ready."""

    def function(request):
        return Response(State(None, {"one": Resource(config_map(), ready=READY_UNSPECIFIED)}))

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, CREATING)
        assert message_of(xr, "Ready") == "Unready resources: one"


@pytest.mark.parametrize(("composite_ready", "check"), [(READY_TRUE, READY), (READY_FALSE, CREATING)])
async def test_a_function_may_decide_for_the_whole_xr(s, composite_ready, check):
    """Its readiness of the composite beats that of the resources, and has no other effect."""

    def function(request):
        other = READY_FALSE if composite_ready == READY_TRUE else READY_TRUE
        return Response(
            State(Resource({}, ready=composite_ready), {"one": Resource(config_map(), ready=other)})
        )

    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", SYNCED, check)
        assert message_of(xr, "Ready") == ""


async def test_auto_ready_tracks_the_conditions_of_the_composed_resources(s):
    things = await Things.defined(s)
    buckets = await custom_kind(s)
    base = {"apiVersion": f"{s.group}/v1", "kind": "Bucket"}
    unsaid = entry("bucket", base=base)
    unsaid["readinessChecks"] = [{"type": "MatchString", "fieldPath": "x", "matchString": "never"}]
    await things.compose(resources(unsaid, entry("map", SIZE)), await builtin(s, AUTO_READY))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", SYNCED, CREATING)
    [bucket] = (await things.composed(xr, buckets)).values()
    assert not READY(xr)
    now = "2026-01-01T00:00:00Z"
    condition = {"type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": now}
    status = {"status": {"conditions": [condition]}}
    await s.client.patch_merge(buckets, bucket["metadata"]["name"], status, s.id, subresource="status")
    await things.until("mine", READY)
