"""Owners that are not where they should be are looked for without reading everything each time."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.controllers.garbage_collector.owner_lookup import OwnerLookup
from crossply.apiserver.storage import Event
from tests.support.apiserver.store_bench import bench, running


def reference(uid: str, name: str = "x") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}


async def test_many_unknown_owners_are_resolved_in_one_pass() -> None:
    async with bench() as client:
        for number in range(10):
            await client.create("configmaps", "other", f"c{number}", data={"uid": "no"})
        lookup = OwnerLookup(client.context)
        for number in range(400):
            assert not await lookup.elsewhere(reference(f"{number:08}-0000"), "n")
        assert lookup.uids.reads == 10


async def test_an_owner_that_comes_later_is_known_until_it_goes() -> None:
    async with bench() as client:
        lookup = OwnerLookup(client.context)
        client.context.store.subscribe("configmaps", lookup.uids.on_event)
        assert not await lookup.elsewhere(reference("unknown"), "n")
        owner = await client.create("configmaps", "other", "one")
        here = reference(owner["metadata"]["uid"])
        assert await lookup.elsewhere(here, "n")
        assert not await lookup.elsewhere(here, "other")
        await client.delete("configmaps", "other", "one")
        assert not await lookup.elsewhere(here, "n")


async def test_many_references_to_one_large_object_read_it_once() -> None:
    async with bench() as client:
        await client.create("configmaps", "n", "one", data={f"key{n}": "value" for n in range(1000)})
        lookup = OwnerLookup(client.context)
        for number in range(100):
            lookup.state_of_owner(reference(f"{number}", "one"), "n")
        assert client.context.decoded.decodings == 1


async def test_a_dependent_of_owners_in_another_namespace_gets_a_warning_for_every_owner() -> None:
    async with running() as (client, controllers):
        owners = [await client.create("configmaps", "other", f"o{n}") for n in range(3)]
        references = [reference(owner["metadata"]["uid"], owner["metadata"]["name"]) for owner in owners]
        messages: list[str] = []

        def on_event(event: Event) -> None:
            messages.append(event.data.decode())

        client.context.store.subscribe("events", on_event)
        await client.create("configmaps", "n", "child", metadata={"ownerReferences": references})
        await controllers.settled()
        assert sum("OwnerRefInvalidNamespace" in message for message in messages) == 3
