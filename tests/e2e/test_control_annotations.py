"""Requests to the engine by annotation (reference: reconcile §1, steps 4, 5, 19)."""

from __future__ import annotations

import pytest

from tests.support.e2e.pipelines import SIZE, calling, entry, resources, served
from tests.support.e2e.scenario import CONFIG_MAP, condition
from tests.support.e2e.things import (
    READY,
    SYNCED,
    Things,
    config_map,
    desiring,
    message_of,
    until_event_recorded,
)

pytestmark = pytest.mark.xdist_group("e2e")

PAUSED = "crossplane.io/paused"
REQUESTED = "crossplane.io/reconcile-requested-at"
POLL = "crossplane.io/poll-interval"
IS_PAUSED = condition("Synced", "False", "ReconcilePaused")


def counting():
    """A function that counts its calls."""
    calls = []

    def function(request):
        calls.append(request.observed.composite.object["metadata"]["name"])
        return desiring(request, one=config_map())

    return function, calls


async def test_a_paused_xr_changes_nothing_until_it_is_resumed(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "1"})
    xr = await things.until("mine", READY)
    name = things.references(xr)[0]["name"]
    await things.apply("mine", {"size": "2"}, annotations={PAUSED: "true"})
    xr = await things.until("mine", IS_PAUSED)
    assert message_of(xr) == "Reconciliation (including deletion) is paused via the pause annotation"
    message = "Reconciliation is paused via the pause annotation"
    await until_event_recorded(s, xr, "Normal", "ReconciliationPaused", message)
    assert (await s.client.get(CONFIG_MAP, name, s.id))["data"] == {"size": "1"}
    await things.apply("mine", {"size": "2"})
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"size": "2"})
    await things.until("mine", SYNCED)


async def test_a_paused_xr_keeps_its_finalizer(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "1"})
    await things.until("mine", READY)
    await things.apply("mine", {"size": "1"}, annotations={PAUSED: "true"})
    await things.until("mine", IS_PAUSED)
    await s.client.delete(things.kind, "mine", s.id)
    # Another one that comes and goes shows that there was time for this one to go.
    await things.apply("other", {"size": "1"})
    await things.until("other", READY)
    await things.delete("other")
    assert IS_PAUSED(await things.get("mine"))
    await things.change("mine", {"metadata": {"annotations": {PAUSED: None}}})
    await s.until_gone(things.kind, "mine")


async def test_an_xr_that_is_born_paused_stays_as_it_is(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "1"}, annotations={PAUSED: "true"})
    xr = await things.until("mine", IS_PAUSED)
    assert "finalizers" not in xr["metadata"]
    assert things.of_engine(xr) == {}


async def test_a_request_to_reconcile_is_handled_once(s):
    """The functions are called although nothing changed, and an event reports it."""

    function, calls = counting()
    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        xr = await things.until("mine", READY)
        for token in ("2026-01-01T00:00:00Z", "again"):
            before = len(calls)
            await things.change("mine", {"metadata": {"annotations": {REQUESTED: token}}})

            async def called(before=before):
                return len(calls) > before

            await s.eventually(called)
        assert "ReconcileRequestHandled" in {reason for _, reason, _ in await s.events(xr)}


async def test_a_poll_interval_calls_the_functions_repeatedly(s):
    function, calls = counting()
    with served(function) as address:
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine", annotations={POLL: "1s"})
        await things.until("mine", READY)
        for _ in range(2):
            before = len(calls)

            async def called(before=before):
                return len(calls) > before

            await s.eventually(called)


@pytest.mark.parametrize("interval", ["soon", "-1s", "0s"])
async def test_a_poll_interval_that_is_none_is_no_interval(s, interval):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "1"}, annotations={POLL: interval})
    await things.until("mine", SYNCED, READY)
