"""Caches hold what the server holds, whatever happens in between."""

from __future__ import annotations

import asyncio
import random
import signal
from contextlib import aclosing, asynccontextmanager

import orjson
import pytest

from crossply.kube import informer as cache_module
from crossply.kube import watch
from crossply.kube.client import Client
from crossply.kube.failures import Forbidden, KubeError, Unreachable
from crossply.kube.informer import Informer
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.kube.shared_informers import SharedInformers
from crossply.kube.watch import ADDED, DELETED, MODIFIED, SYNCED, watch_objects
from tests.support.server_process import CONFIG_MAP, DEFINITION, Server, config_map


async def until(condition, seconds: float = 20.0):
    """Wait until it is so."""
    async with asyncio.timeout(seconds):
        while not (answer := condition()):
            await asyncio.sleep(0.01)
    return answer


@asynccontextmanager
async def running(client: Client, selection: Selection):
    async with SharedInformers(client) as caches:
        cache = caches.acquire(CONFIG_MAP, selection)
        await asyncio.wait_for(cache.synced.wait(), 20)
        yield cache


def versions(items: list[bytes]) -> dict[str, str]:
    objects = [orjson.loads(item)["metadata"] for item in items]
    return {f"{obj['namespace']}/{obj['name']}": obj["resourceVersion"] for obj in objects}


async def same_as_server(client: Client, cache: Informer) -> None:
    listed = await client.list_selected(CONFIG_MAP, cache.selection)
    expected = versions(listed.items)
    await until(lambda: versions(cache.objects()) == expected)


async def scribble(client: Client, ns: str, chance: random.Random, count: int) -> None:
    """Random writes to a few names, some of them losing or gaining the label."""
    for _ in range(count):
        name = f"c{chance.randrange(8)}"
        obj = config_map(name, ns, value=str(chance.randrange(1000)))
        obj["metadata"]["labels"] = {"of": chance.choice(["case", "case", "other"])}
        try:
            if chance.random() < 0.25:
                await client.delete(CONFIG_MAP, name, ns)
            else:
                await client.apply(CONFIG_MAP, obj, "scribbler")
        except KubeError:  # a concurrent write by another client
            continue


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("learning", [False, True])
async def test_after_random_writes_the_cache_is_as_the_server(client: Client, ns, seed, learning) -> None:
    async with running(client, Selection(ns, "of=case")) as cache:
        mirror: dict = {}

        def track(kind: str, key, before: bytes | None, after: bytes | None) -> None:
            assert mirror.get(key) == before, f"{kind} of {key} does not follow what was told before"
            assert (before is None, after is None) == {
                ADDED: (True, False),
                MODIFIED: (False, False),
                DELETED: (False, True),
            }[kind]
            mirror[key] = after

        mirror |= dict(zip(cache.keys(), cache.objects(), strict=True))
        cache.subscribe(track)
        cache.add_index("value", lambda obj: [obj.get("data", {}).get("value", "")])
        writers = [scribble(client, ns, random.Random(seed * 10 + i), 25) for i in range(4)]
        if learning:
            writers.append(keep_learning(client, cache, ns, random.Random(seed)))
        await asyncio.gather(*writers)
        await same_as_server(client, cache)
        assert {key: data for key, data in mirror.items() if data} == dict(
            zip(cache.keys(), cache.objects(), strict=True)
        )
        for data in cache.objects():
            value = orjson.loads(data)["data"]["value"]
            assert data in cache.by("value", value)
        assert cache.by("value", "none of these") == []


async def keep_learning(client: Client, cache: Informer, ns: str, chance: random.Random) -> None:
    """Write, and record the write in the cache at once or late."""
    for _ in range(25):
        obj = config_map(f"c{chance.randrange(8)}", ns, value=str(chance.randrange(1000)))
        try:
            applied = await client.apply(CONFIG_MAP, obj, "learner")
        except KubeError:
            continue
        if chance.random() < 0.5:
            await asyncio.sleep(0.02)
        cache.record_write(applied)


async def test_a_recorded_write_is_read_at_once_and_notified_once(client: Client, ns) -> None:
    async with running(client, Selection(ns, "of=case")) as cache:
        events: list[str] = []
        cache.subscribe(lambda kind, key, before, after: events.append(f"{kind} {key[1]}"))
        created = await client.create(CONFIG_MAP, config_map("one", ns))
        cache.record_write(created)
        assert cache.uid(ns, "one") == created["metadata"]["uid"]
        await client.create(CONFIG_MAP, config_map("two", ns))
        await until(lambda: cache.get(ns, "two"))
        assert events == ["ADDED one", "ADDED two"]
        await client.delete(CONFIG_MAP, "one", ns)
        await until(lambda: cache.get(ns, "one") is None)
        cache.record_write(created)
        assert cache.get(ns, "one") is None, "an answer that came late brings nothing back"


@pytest.mark.parametrize("version", ["9" * 5000, "²", "abc", ""])
async def test_a_resource_version_that_is_no_number_of_usual_length_does_not_harm_a_cache(
    client: Client, ns, version
) -> None:
    async with running(client, Selection(ns)) as cache:
        odd = config_map("odd", ns)
        odd["metadata"] |= {"resourceVersion": version, "uid": "u"}
        cache.record_write(odd)
        await client.apply(CONFIG_MAP, config_map("usual", ns), "test")
        await until(lambda: cache.get(ns, "usual"))
        assert cache.get(ns, "odd") is None


async def test_caches_are_shared_and_end_with_the_last_user(client: Client, ns) -> None:
    async with SharedInformers(client) as caches:
        first = caches.acquire(CONFIG_MAP, Selection(ns))
        second = caches.acquire(CONFIG_MAP, Selection(ns))
        other = caches.acquire(CONFIG_MAP, Selection(ns, "of=case"))
        assert first is second is not other
        await first.synced.wait()
        await other.synced.wait()
        assert client.counts["watch", "configmaps"] == 2
        caches.release(first)
        assert len(caches.running()) == 2
        caches.release(second)
        assert caches.running() == [other]


async def test_a_subscriber_that_fails_does_not_stop_the_others(client: Client, ns, caplog) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no")

    async with running(client, Selection(ns, "of=case")) as cache:
        events: list[str] = []
        cache.subscribe(fail)
        stop = cache.subscribe(lambda kind, *_: events.append(kind))
        await client.create(CONFIG_MAP, config_map("one", ns))
        await until(lambda: events == ["ADDED"])
        stop()
        await client.delete(CONFIG_MAP, "one", ns)
        await until(lambda: len(cache) == 0)
        assert events == ["ADDED"]
    assert "a subscriber to configmaps failed" in caplog.text


async def test_objects_larger_than_any_buffer_arrive(client: Client, ns) -> None:
    async with running(client, Selection(ns, "of=case")) as cache:
        await client.create(CONFIG_MAP, config_map("large", ns, text="x" * 900_000))
        data = await until(lambda: cache.get(ns, "large"))
        assert len(orjson.loads(data)["data"]["text"]) == 900_000


async def test_a_kind_that_is_not_served_is_waited_for(client: Client) -> None:
    names = {"kind": "Late", "plural": "lates"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {"group": "late.example.org", "scope": "Cluster", "names": names, "versions": [version]}

    async with SharedInformers(client) as caches:
        cache = caches.acquire(Kind("late.example.org", "v1", "Late", "lates", False))
        await until(lambda: cache.trouble)
        assert not cache.synced.is_set()
        await client.create(DEFINITION, {"metadata": {"name": "lates.late.example.org"}, "spec": spec})
        await asyncio.wait_for(cache.synced.wait(), 20)
        assert cache.trouble is None


async def test_a_forbidden_list_is_reported_until_it_is_allowed(client: Client, ns, monkeypatch) -> None:
    """A waiter must not wait forever: only another process can resolve it."""
    monkeypatch.setattr(cache_module, "GATHERING_SECONDS", 0.1)
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    reader = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}
    bindings = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", True)

    async with SharedInformers(client.acting_as("reader")) as caches:
        cache = caches.acquire(CONFIG_MAP, Selection(ns))
        with pytest.raises(Forbidden, match='User "reader" cannot'):
            await cache.readable()
        body = {"metadata": {"name": "reader", "namespace": ns}, "roleRef": role, "subjects": [reader]}
        await client.create(bindings, body)
        await asyncio.wait_for(cache.synced.wait(), 20)
        await cache.readable()


@pytest.fixture
def lasting(tmp_path):
    """A server that keeps its data when it is restarted."""
    server = Server(tmp_path).start()
    yield server
    server.stop()


async def test_caches_go_on_after_the_server_was_killed_and_restarted(lasting) -> None:
    async with Client(lasting.config) as client, running(client, Selection(labels="of=case")) as cache:
        await client.create(CONFIG_MAP, config_map("one"))
        await until(lambda: cache.get("default", "one"))
        events: list[str] = []
        cache.subscribe(lambda kind, key, before, after: events.append(f"{kind} {key[1]}"))
        await asyncio.to_thread(lasting.stop, signal.SIGKILL)
        await until(lambda: isinstance(cache.trouble, Unreachable))
        assert cache.get("default", "one"), "what is known stays known"
        await asyncio.to_thread(lasting.start)
        await client.delete(CONFIG_MAP, "one", "default")
        await client.create(CONFIG_MAP, config_map("two"))
        await until(lambda: cache.get("default", "two"))
        await same_as_server(client, cache)
        assert events == ["DELETED one", "ADDED two"]


def forget_history(server: Server) -> None:
    """Make a stopped server forget what happened: a backup holds what is, not what was."""
    backup = str(server.directory / "backup.db")
    server.command("backup", backup)
    (server.directory / "data").rename(server.directory / "data-before")
    server.command("restore", backup)


async def meanwhile(server: Server, elsewhere: Server) -> None:
    """While the followers of a server cannot reach it, change things at another address; then forget it."""
    await asyncio.to_thread(server.stop, signal.SIGKILL)
    await asyncio.to_thread(elsewhere.start)
    async with Client(elsewhere.config) as client:
        await client.patch_merge(CONFIG_MAP, "changes", {"data": {"a": "1"}}, "default")
        await client.delete(CONFIG_MAP, "goes", "default")
        await client.delete(CONFIG_MAP, "returns", "default")
        await client.create(CONFIG_MAP, config_map("returns"))
    await asyncio.to_thread(elsewhere.stop)
    forget_history(server)
    await asyncio.to_thread(server.start)


async def test_nothing_that_was_missed_is_lost_when_the_server_has_forgotten_it(lasting, monkeypatch) -> None:
    monkeypatch.setattr(watch, "LONGEST_PAUSE", 0.3)
    elsewhere = Server(lasting.directory)

    cache_events: list[str] = []
    events: list[str] = []
    async with Client(lasting.config) as client:
        for name in ("changes", "goes", "returns", "stays"):
            await client.create(CONFIG_MAP, config_map(name))
        async with running(client, Selection(labels="of=case")) as cache:
            cache.subscribe(lambda kind, key, before, after: cache_events.append(f"{kind} {key[1]}"))
            watches = client.counts["watch", "configmaps"]
            async with aclosing(watch_objects(client, CONFIG_MAP, label_selector="of=case")) as changes:
                async for change in changes:
                    events.append(change.type + ("" if change.type == SYNCED else f" {change.key[1]}"))
                    if events[-1] == SYNCED and len(events) > 5:
                        break
                    if events[-1] == SYNCED:
                        await meanwhile(lasting, elsewhere)
            await same_as_server(client, cache)
            await until(lambda: len(cache_events) == 4)
            assert client.counts["watch", "configmaps"] > watches + 2
    assert events[:5] == ["ADDED changes", "ADDED goes", "ADDED returns", "ADDED stays", "SYNCED"]
    assert events[5:] == [*RELISTED, "SYNCED"]
    assert cache_events == RELISTED
    elsewhere.stop()


RELISTED = ["MODIFIED changes", "DELETED returns", "ADDED returns", "DELETED goes"]


@pytest.mark.parametrize("streams_lists", [True, False], ids=["streamed", "listed"])
async def test_a_cache_of_metadata_holds_nothing_else(client: Client, ns, monkeypatch, streams_lists) -> None:
    if not streams_lists:
        monkeypatch.setattr(watch, "_INITIAL", {"sendInitialEvents": "true"})  # refused, so it lists

    await client.create(CONFIG_MAP, config_map("here", ns, value="secret"))
    async with running(client, Selection(ns, metadata_only=True)) as cache:
        await client.create(CONFIG_MAP, config_map("later", ns, value="secret"))
        later = orjson.loads(await until(lambda: cache.get(ns, "later")))
        here = orjson.loads(cache.get(ns, "here"))
    for obj in (here, later):
        assert obj["metadata"]["labels"] == {"of": "case"}
        assert "data" not in obj


def without_data(obj: dict) -> dict:
    return {key: value for key, value in obj.items() if key != "data"} | {"size": len(obj.get("data") or {})}


async def test_a_cache_can_store_less_of_every_object(client: Client, ns) -> None:
    await client.create(CONFIG_MAP, config_map("listed", ns, value="1"))
    async with running(client, Selection(ns, reduce=without_data)) as cache:
        written = await client.create(CONFIG_MAP, config_map("written", ns, value="2"))
        cache.record_write(written)
        await client.create(CONFIG_MAP, config_map("watched", ns, value="3"))
        for name in ("listed", "written", "watched"):
            await until(lambda name=name: cache.get(ns, name) is not None)
            obj = orjson.loads(cache.get(ns, name))
            assert "data" not in obj
            assert obj["size"] == 1
