"""References and selectors of one and of several resources."""

from __future__ import annotations

from tests.providers.comparison_scenarios.registry import FAILED, READY, aged, ready_thing, scenario
from tests.support.providers.scenario_play import ScenarioPlay


@scenario
async def reference(s: ScenarioPlay) -> None:
    await ready_thing(s, "b")
    await s.thing("a", size=1, peerRef={"name": "b"})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def reference_to_what_comes_later(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, peerRef={"name": "b"})
    await s.until("a", **FAILED)
    await s.settled()
    await s.thing("b", size=1, annotations={"crossplane.io/external-name": "b"})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def optional_reference_to_nothing(s: ScenarioPlay) -> None:
    await ready_thing(s, peerRef={"name": "b", "policy": {"resolution": "Optional"}})


@scenario
async def reference_to_what_has_no_name_yet(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("b", size=1, annotations={"crossplane.io/paused": "true"})
    await s.until("b", Synced="ReconcilePaused")
    await s.thing("a", size=1, peerRef={"name": "b"})
    await s.until("a", **FAILED)
    await s.settled()


@scenario
async def value_is_kept_beside_a_reference(s: ScenarioPlay) -> None:
    await ready_thing(s, peer="known", peerRef={"name": "b"})


@scenario
async def reference_is_always_resolved(s: ScenarioPlay) -> None:
    await ready_thing(s, "b")
    await s.thing("a", size=1, peer="stale", peerRef={"name": "b", "policy": {"resolve": "Always"}})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def selector(s: ScenarioPlay) -> None:
    await ready_thing(s, "b", labels={"team": "blue"})
    await s.thing("a", size=1, peerSelector={"matchLabels": {"team": "blue"}})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def selector_without_a_match(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, peerSelector={"matchLabels": {"team": "blue"}})
    await s.until("a", **FAILED)
    await s.settled()


@scenario
async def optional_selector_without_a_match(s: ScenarioPlay) -> None:
    optional = {"matchLabels": {"team": "blue"}, "policy": {"resolution": "Optional"}}
    await ready_thing(s, peerSelector=optional)


@scenario
async def selector_by_controller(s: ScenarioPlay) -> None:
    owner = await s.create({"kind": "ConfigMap", "metadata": {"name": "owner"}})
    identity = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    controller = {**identity, "controller": True}
    await ready_thing(s, "b", labels={"team": "blue"})
    await s.thing("c", size=1, labels={"team": "blue"}, controller=controller)
    await s.until("c", **READY)
    await s.settled()
    matching = {"matchLabels": {"team": "blue"}, "matchControllerRef": True}
    await s.thing("a", size=1, peerSelector=matching, controller=controller)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def selector_drops_the_reference_when_always(s: ScenarioPlay) -> None:
    await ready_thing(s, "b", labels={"team": "blue"})
    always = {"matchLabels": {"team": "blue"}, "policy": {"resolve": "Always"}}
    await s.thing("a", size=1, peer="stale", peerRef={"name": "gone"}, peerSelector=always)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def references_in_a_list(s: ScenarioPlay) -> None:
    await ready_thing(s, "c")
    await s.thing("b", size=1)
    await s.until("b", **READY)
    await s.settled()
    await s.thing("a", size=1, friendRefs=[{"name": "c"}, {"name": "b"}])
    await s.until("a", **READY)
    await s.settled()


@scenario
async def selector_of_a_list(s: ScenarioPlay) -> None:
    await ready_thing(s, "c", labels={"team": "blue"})
    await s.thing("b", size=1, labels={"team": "blue"})
    await s.until("b", **READY)
    await s.settled()
    await s.thing("a", size=1, friendSelector={"matchLabels": {"team": "blue"}})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def references_are_not_resolved_while_deleting(s: ScenarioPlay) -> None:
    await ready_thing(s, "b")
    await s.thing("a", size=1, peerRef={"name": "b", "policy": {"resolve": "Always"}})
    await s.until("a", **READY)
    await s.settled()
    await aged(s)
    await aged(s, "b")
    await s.delete("b")
    await s.until_gone("b")
    await s.settled()
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()
