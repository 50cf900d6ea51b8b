"""Objects go when the last of their owners is gone, and not before."""

from __future__ import annotations

from pathlib import Path

from tests.support.apiserver.store_bench import bench, custom, owned_by, running

NOBODY = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "nobody", "uid": "11111111-1111-1111-1111-111111111111"},
}


async def test_dependents_of_a_deleted_owner_go_down_to_the_last_generation() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        two = await client.create("widgets", "default", "two", metadata=owned_by(first))
        await client.create("configmaps", "default", "three", metadata=owned_by(two))
        await client.create("configmaps", "default", "unrelated")
        await client.delete("widgets", "default", "one")
        await controllers.settled()
        assert client.names("widgets") == []
        assert client.names("configmaps") == ["unrelated"]


async def test_an_object_stays_while_one_owner_is_left_and_forgets_the_others() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        two = await client.create("widgets", "default", "two")
        await client.create("configmaps", "default", "child", metadata=owned_by(first, two))
        await client.delete("widgets", "default", "one")
        await controllers.settled()
        child = client.get("configmaps", "default", "child")
        assert child is not None
        assert [ref["name"] for ref in child["metadata"]["ownerReferences"]] == ["two"]
        await client.delete("widgets", "default", "two")
        await controllers.settled()
        assert client.get("configmaps", "default", "child") is None


async def test_an_object_created_with_an_absent_owner_is_collected() -> None:
    async with running() as (client, controllers):
        await client.create("configmaps", "default", "child", metadata=owned_by(NOBODY))
        await controllers.settled()
        assert client.names("configmaps") == []


async def test_an_owner_recreated_under_the_same_name_is_another_owner() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        await client.delete("widgets", "default", "one")
        await client.create("widgets", "default", "one")
        await client.create("configmaps", "default", "child", metadata=owned_by(first))
        await controllers.settled()
        assert client.names("configmaps") == []
        assert client.names("widgets") == ["one"]


async def test_orphaning_leaves_the_dependents_without_the_reference() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        two = await client.create("widgets", "default", "two")
        await client.create("configmaps", "default", "a", metadata=owned_by(first))
        await client.create("configmaps", "default", "b", metadata=owned_by(first, two))
        await client.delete("widgets", "default", "one", "Orphan")
        await controllers.settled()
        assert client.names("widgets") == ["two"]
        a, b = client.get("configmaps", "default", "a"), client.get("configmaps", "default", "b")
        assert a is not None
        assert b is not None
        assert "ownerReferences" not in a["metadata"]
        assert [ref["name"] for ref in b["metadata"]["ownerReferences"]] == ["two"]


async def test_foreground_deletion_waits_for_blocking_dependents() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        terminating = {**owned_by(first, block=True), "finalizers": ["example.org/hold"]}
        await client.create("configmaps", "default", "held", metadata=terminating)
        await client.create("configmaps", "default", "free", metadata=owned_by(first))
        await client.delete("widgets", "default", "one", "Foreground")
        await controllers.settled()
        assert client.names("configmaps") == ["held"]
        assert client.names("widgets") == ["one"]

        def without_finalizers(old: dict[str, object]) -> dict[str, object]:
            metadata = dict(old["metadata"])  # type: ignore[call-overload]
            del metadata["finalizers"]
            return {**old, "metadata": metadata}

        await client.update("configmaps", "default", "held", without_finalizers)
        await controllers.settled()
        assert client.names("configmaps") == []
        assert client.names("widgets") == []


async def test_foreground_deletion_does_not_wait_for_dependents_that_do_not_block() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        terminating = {**owned_by(first), "finalizers": ["example.org/hold"]}
        await client.create("configmaps", "default", "held", metadata=terminating)
        await client.delete("widgets", "default", "one", "Foreground")
        await controllers.settled()
        assert client.names("widgets") == []
        configmaps = client.get("configmaps", "default", "held")
        assert configmaps is not None
        assert configmaps["metadata"]["deletionTimestamp"]


async def test_foreground_deletion_does_not_wait_for_objects_of_another_namespace() -> None:
    async with running() as (client, controllers):
        await client.create("namespaces", "", "neighbour")
        first = await client.create("widgets", "default", "one")
        terminating = {**owned_by(first, block=True), "finalizers": ["example.org/hold"]}
        await client.create("configmaps", "neighbour", "held", metadata=terminating)
        await client.delete("widgets", "default", "one", "Foreground")
        await controllers.settled()
        assert client.names("widgets") == []


async def test_foreground_deletion_goes_through_generations() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        two = await client.create("widgets", "default", "two", metadata=owned_by(first, block=True))
        await client.create("configmaps", "default", "three", metadata=owned_by(two, block=True))
        await client.delete("widgets", "default", "one", "Foreground")
        await controllers.settled()
        assert client.names("widgets") == []
        assert client.names("configmaps") == []


async def test_a_ring_of_owners_goes_in_the_foreground() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        two = await client.create("widgets", "default", "two", metadata=owned_by(first, block=True))
        ring = owned_by(two, block=True)
        await client.update(
            "widgets", "default", "one", lambda old: {**old, "metadata": {**old["metadata"], **ring}}
        )
        await client.delete("widgets", "default", "one", "Foreground")
        await controllers.settled()
        assert client.names("widgets") == []


async def test_a_ring_of_owners_stays_until_one_is_deleted() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        two = await client.create("widgets", "default", "two", metadata=owned_by(first))
        ring = owned_by(two)
        await client.update(
            "widgets", "default", "one", lambda old: {**old, "metadata": {**old["metadata"], **ring}}
        )
        await controllers.settled()
        assert client.names("widgets") == ["one", "two"]
        await client.delete("widgets", "default", "two")
        await controllers.settled()
        assert client.names("widgets") == []


async def test_an_owner_in_another_namespace_is_no_owner() -> None:
    async with running() as (client, controllers):
        await client.create("namespaces", "", "other")
        owner = await client.create("widgets", "other", "one")
        child = await client.create("configmaps", "default", "child", metadata=owned_by(owner))
        await controllers.settled()
        assert client.names("configmaps", "default") == []
        (name,) = client.names("events", "default")
        event = client.get("events", "default", name)
        assert event is not None
        uid = owner["metadata"]["uid"]
        assert event["reason"] == "OwnerRefInvalidNamespace"
        assert event["type"] == "Warning"
        assert event["source"] == {"component": "garbage-collector-controller"}
        assert event["involvedObject"]["uid"] == child["metadata"]["uid"]
        assert event["message"] == (
            f"ownerRef [example.org/v1/Widget, namespace: default, name: one, uid: {uid}] does not exist in "
            'namespace "default"'
        )


async def test_a_cluster_scoped_object_with_a_namespaced_owner_is_left_alone_with_a_warning() -> None:
    async with running() as (client, controllers):
        owner = await client.create("widgets", "default", "one")
        await client.create("clusters", "", "child", metadata=owned_by(owner))
        await controllers.settled()
        assert len(client.names("events", "default")) == 1
        await client.delete("widgets", "default", "one")
        await controllers.settled()
        assert client.names("clusters") == ["child"]


async def test_a_cluster_scoped_owner_owns_objects_in_any_namespace() -> None:
    async with running() as (client, controllers):
        owner = await client.create("clusters", "", "one")
        await client.create("configmaps", "default", "child", metadata=owned_by(owner))
        await client.create("clusters", "", "two", metadata=owned_by(owner))
        await controllers.settled()
        assert client.names("configmaps") == ["child"]
        await client.delete("clusters", "", "one")
        await controllers.settled()
        assert client.names("configmaps") == []
        assert client.names("clusters") == []


async def test_objects_with_owners_of_an_unknown_kind_are_left_alone_until_it_is_known() -> None:
    async with running() as (client, controllers):
        stranger = {**NOBODY, "apiVersion": "example.org/v1", "kind": "Gadget"}
        await client.create("configmaps", "default", "child", metadata=owned_by(stranger))
        await controllers.settled()
        assert client.names("configmaps") == ["child"]
        client.context.registry.put(custom("gadgets", "Gadget", True))
        for key in controllers.garbage._sync.take_unknown():
            controllers.garbage.queue.add(key)
        await controllers.settled()
        assert client.names("configmaps") == []


async def test_owners_are_distinguished_by_uid_even_when_their_kind_is_no_longer_served() -> None:
    async with running() as (client, controllers):
        owner = await client.create("widgets", "default", "one")
        await client.create("configmaps", "default", "child", metadata=owned_by(owner))
        await client.delete("widgets", "default", "one")
        client.context.registry.remove("example.org", "widgets")
        await controllers.settled()
        assert client.names("configmaps") == []


async def test_garbage_that_was_left_by_a_stopped_server_is_collected_at_the_next_start(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "data")
    async with bench(path) as client:
        first = await client.create("widgets", "default", "one")
        two = await client.create("widgets", "default", "two")
        await client.create("configmaps", "default", "child", metadata=owned_by(first))
        await client.create("configmaps", "default", "orphan", metadata=owned_by(two))
        await client.delete("widgets", "default", "one")
        await client.delete("widgets", "default", "two", "Orphan")
    async with running(path) as (client, controllers):
        await controllers.settled()
        assert client.names("configmaps") == ["orphan"]
        assert client.names("widgets") == []


async def test_many_dependents_go_together() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        for number in range(300):
            await client.create("configmaps", "default", f"c{number}", metadata=owned_by(first))
        commits = client.context.store.commits
        await client.delete("widgets", "default", "one")
        await controllers.settled()
        assert client.names("configmaps") == []
        assert client.context.store.commits - commits < 100


async def test_deleted_objects_leave_nothing_in_the_graph() -> None:
    async with running() as (client, controllers):
        first = await client.create("widgets", "default", "one")
        await client.create("configmaps", "default", "child", metadata=owned_by(first, block=True))
        await client.delete("widgets", "default", "one", "Foreground")
        await controllers.settled()
        garbage = controllers.garbage
        assert not garbage._index
        assert not garbage._index._dependents
        assert not garbage._waiting
