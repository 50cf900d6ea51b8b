"""The verbs, their errors, and impersonation."""

from __future__ import annotations

import asyncio

import orjson
import pytest

from crossply.kube.client import Client
from crossply.kube.discovery import Discovery, UnknownKind
from crossply.kube.failures import (
    AlreadyExists,
    Conflict,
    Forbidden,
    Invalid,
    KubeError,
    NotServed,
    Unreachable,
)
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.kube.write_guard import Guard, guarded_by
from tests.support.server_process import CONFIG_MAP, DEFINITION, config_map

GHOST = Kind("nobody.example.org", "v1", "Ghost", "ghosts", True)


async def test_an_object_is_created_read_changed_and_deleted(client: Client, ns) -> None:
    created = await client.create(CONFIG_MAP, config_map("one", ns, a="1"))
    assert await client.get(CONFIG_MAP, "one", ns) == created
    created["data"]["a"] = "2"
    changed = await client.update(CONFIG_MAP, created)
    assert changed["data"] == {"a": "2"}
    merged = await client.patch_merge(CONFIG_MAP, "one", {"data": {"b": "3"}}, ns)
    assert merged["data"] == {"a": "2", "b": "3"}
    steps = [{"op": "remove", "path": "/data/a"}]
    assert (await client.patch_json(CONFIG_MAP, "one", steps, ns))["data"] == {"b": "3"}
    assert await client.delete(CONFIG_MAP, "one", ns)
    assert await client.get(CONFIG_MAP, "one", ns) is None
    assert not await client.delete(CONFIG_MAP, "one", ns)


async def test_applying_takes_over_fields_only_by_force(client: Client, ns) -> None:
    await client.apply(CONFIG_MAP, config_map("one", ns, a="1"), "left")
    with pytest.raises(Conflict) as problem:
        await client.apply(CONFIG_MAP, config_map("one", ns, a="2"), "right", force=False)
    assert problem.value.causes[0].field == ".data.a"
    applied = await client.apply(CONFIG_MAP, config_map("one", ns, a="2"), "right")
    assert applied["data"] == {"a": "2"}


async def test_refusals_have_different_errors(client: Client, ns) -> None:
    created = await client.create(CONFIG_MAP, config_map("one", ns))
    with pytest.raises(AlreadyExists):
        await client.create(CONFIG_MAP, config_map("one", ns))
    await client.update(CONFIG_MAP, {**created, "data": {"a": "1"}})
    with pytest.raises(Conflict):
        await client.update(CONFIG_MAP, {**created, "data": {"a": "2"}})
    with pytest.raises(Conflict):
        await client.delete(CONFIG_MAP, "one", ns, uid="somebody-else")
    with pytest.raises(Invalid) as problem:
        await client.create(CONFIG_MAP, config_map("Not A Name", ns))
    assert problem.value.causes[0].field == "metadata.name"


async def test_a_kind_that_is_not_served_is_not_a_missing_object(client: Client, ns) -> None:
    for question in (
        client.get(GHOST, "boo", ns),
        client.delete(GHOST, "boo", ns),
        client.list(GHOST, ns),
    ):
        with pytest.raises(NotServed):
            await question


async def test_an_impersonated_user_has_that_users_rights(client: Client, ns) -> None:
    alice = client.acting_as("alice", ["system:authenticated"])
    with pytest.raises(Forbidden, match='User "alice" cannot get resource "configmaps"'):
        await alice.get(CONFIG_MAP, "one", ns)
    master = client.acting_as("bob", ["system:masters"])
    assert await master.get(CONFIG_MAP, "one", ns) is None
    assert client.counts["get", "configmaps"] == 2


async def test_lists_are_read_page_by_page_and_name_their_kind(client: Client, ns) -> None:
    await asyncio.gather(*(client.create(CONFIG_MAP, config_map(f"c{i}", ns)) for i in range(7)))
    listed = await client.list(CONFIG_MAP, ns, "of=case", limit=3)
    objects = [orjson.loads(item) for item in listed.items]
    assert [obj["metadata"]["name"] for obj in objects] == [f"c{i}" for i in range(7)]
    assert {(obj["apiVersion"], obj["kind"]) for obj in objects} == {("v1", "ConfigMap")}
    assert client.counts["list", "configmaps"] == 3
    assert int(listed.resource_version) > 0


async def test_a_list_may_be_of_metadata_only(client: Client, ns) -> None:
    await client.create(CONFIG_MAP, {**config_map("c", ns), "data": {"large": "x"}})
    [item] = (await client.list_selected(CONFIG_MAP, Selection(ns, "of=case", metadata_only=True))).items
    obj = orjson.loads(item)
    assert obj["metadata"]["name"] == "c"
    assert "data" not in obj


async def test_a_guard_stops_writes_and_no_reads(client: Client, ns) -> None:
    class Late(Exception):
        pass

    def refuse() -> None:
        raise Late

    with guarded_by(Guard(refuse, 5.0, lambda: None)):
        assert await client.get(CONFIG_MAP, "one", ns) is None
        with pytest.raises(Late):
            await client.acting_as("alice").create(CONFIG_MAP, config_map("one", ns))
    assert ("create", "configmaps") not in client.counts


async def test_a_server_that_is_away_is_unreachable(server, tmp_path) -> None:
    from tests.support.server_process import Server

    stopped = Server(tmp_path, "--in-memory").start()
    config = stopped.config
    stopped.stop()

    async with Client(config) as client:
        with pytest.raises(Unreachable, match="create configmaps at https://"):
            await client.create(CONFIG_MAP, config_map("one"))


async def test_discovery_finds_kinds_as_they_come(client: Client) -> None:
    names = {"kind": "Gadget", "plural": "gadgets"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {"group": "toys.example.org", "scope": "Cluster", "names": names, "versions": [version]}
    definition = {"metadata": {"name": "gadgets.toys.example.org"}, "spec": spec}
    now = [0.0]

    discovery = Discovery(client, lambda: now[0])
    assert await discovery.kind_for("v1", "ConfigMap") == CONFIG_MAP
    assert await discovery.kind_for(DEFINITION.api_version, DEFINITION.kind) == DEFINITION
    await client.create(DEFINITION, definition)
    with pytest.raises(UnknownKind):
        await discovery.kind_for("toys.example.org/v1", "Gadget")
    assert client.counts["get", "/apis"] == 1, "asked again too soon"
    while True:
        now[0] += 2.0
        try:
            kind = await discovery.kind_for("toys.example.org/v1", "Gadget")
        except UnknownKind:
            await asyncio.sleep(0.05)
        else:
            break
    assert kind == Kind("toys.example.org", "v1", "Gadget", "gadgets", False)


async def test_every_refusal_keeps_the_servers_sentence(client: Client, ns) -> None:
    with pytest.raises(KubeError) as problem:
        await client.request("GET", f"/api/v1/namespaces/{ns}/configmaps/none")
    assert str(problem.value) == 'configmaps "none" not found'
    assert (problem.value.status, problem.value.reason) == (404, "NotFound")
