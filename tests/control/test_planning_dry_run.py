"""The dry run: writes are tried and remembered, and the server never changes."""

from __future__ import annotations

from contextlib import aclosing

import orjson
import pytest

from crossply.control.planning.api_urls import ObjectKey, is_selected, parse_path
from crossply.control.planning.dry_run_client import DryRunClient
from crossply.kube.client import Client
from crossply.kube.failures import AlreadyExists, Conflict, Invalid, NotServed
from crossply.kube.kind import Kind
from crossply.kube.watch import DELETED, MODIFIED, SYNCED, watch_objects
from tests.support.server_process import CONFIG_MAP, DEFINITION, NAMESPACE

SECRET = Kind("", "v1", "Secret", "secrets", True)


@pytest.fixture
async def real(server):
    """A client of the cluster."""
    async with Client(server.config) as client:
        yield client


@pytest.fixture
async def planned(server):
    """A client whose writes are dry runs."""
    async with DryRunClient(server.config) as client:
        yield client


def config_map(ns, name="it", **data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": ns},
        "data": data,
    }


async def names(client, ns, **selectors):
    listed = await client.list(CONFIG_MAP, ns, **selectors)
    listed_names = {orjson.loads(data)["metadata"]["name"] for data in listed.items}
    return listed_names - {"kube-root-ca.crt"}


async def test_reads_return_the_planned_writes_and_the_server_has_none_of_them(real, planned, ns):
    created = await planned.create(CONFIG_MAP, config_map(ns, a="1"))
    assert created["metadata"]["uid"]
    changed = await planned.patch_merge(CONFIG_MAP, "it", {"data": {"b": "2"}}, ns)
    assert changed["data"] == {"a": "1", "b": "2"}
    assert changed["metadata"]["uid"] == created["metadata"]["uid"]
    assert (await planned.get(CONFIG_MAP, "it", ns))["data"] == {"a": "1", "b": "2"}
    assert await names(planned, ns) == {"it"}
    assert await names(real, ns) == set()
    with pytest.raises(AlreadyExists):
        await planned.create(CONFIG_MAP, config_map(ns))


async def test_an_object_of_the_server_changes_in_the_dry_run_only(real, planned, ns):
    live = await real.create(CONFIG_MAP, config_map(ns, a="1"))
    await planned.apply(CONFIG_MAP, config_map(ns, a="2"), "me")
    await planned.patch_merge(CONFIG_MAP, "it", {"data": {"b": "3"}}, ns)
    # A second apply by the same manager takes out what it no longer has, and leaves what others wrote.
    await planned.apply(CONFIG_MAP, config_map(ns, c="4"), "me")
    assert (await planned.get(CONFIG_MAP, "it", ns))["data"] == {"b": "3", "c": "4"}
    assert await real.get(CONFIG_MAP, "it", ns) == live


async def test_the_server_decides_about_validity(real, planned, ns):
    with pytest.raises(Invalid):
        await planned.create(CONFIG_MAP, config_map(ns, name="Not A Name"))
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": ns}}
    applied = await planned.apply(SECRET, {**secret, "stringData": {"a": "b"}}, "me")
    assert (applied["type"], applied["data"]) == ("Opaque", {"a": "Yg=="})


async def test_a_write_that_changes_nothing_makes_no_new_version(real, planned, ns):
    await real.apply(CONFIG_MAP, config_map(ns, a="1"), "me")
    first = await planned.apply(CONFIG_MAP, config_map(ns, a="1"), "me")
    assert planned.store.history() == []
    assert first == await real.get(CONFIG_MAP, "it", ns)


async def test_a_stale_write_is_refused(real, planned, ns):
    live = await real.create(CONFIG_MAP, config_map(ns, a="1"))
    version = live["metadata"]["resourceVersion"]
    stale = {"metadata": {"resourceVersion": version}, "data": {"a": "2"}}
    await planned.patch_merge(CONFIG_MAP, "it", stale, ns)
    with pytest.raises(Conflict):
        await planned.patch_merge(CONFIG_MAP, "it", stale, ns)


async def test_deleted_objects_are_gone_from_reads_and_lists(real, planned, ns):
    await real.create(CONFIG_MAP, config_map(ns, "one"))
    await real.create(CONFIG_MAP, config_map(ns, "two"))
    assert await planned.delete(CONFIG_MAP, "one", ns, "Foreground")
    assert await planned.get(CONFIG_MAP, "one", ns) is None
    assert await names(planned, ns) == {"two"}
    assert not await planned.delete(CONFIG_MAP, "one", ns)
    assert await names(real, ns) == {"one", "two"}
    assert (await real.get(CONFIG_MAP, "one", ns))["metadata"].get("deletionTimestamp") is None


async def test_watches_send_planned_objects(real, planned, ns):
    await real.create(CONFIG_MAP, config_map(ns, a="1"))
    changes = watch_objects(planned, CONFIG_MAP, namespace=ns)
    async with aclosing(changes):
        async for change in changes:
            if change.type == SYNCED:
                break
        await planned.patch_merge(CONFIG_MAP, "it", {"data": {"a": "2"}}, ns)
        await planned.delete(CONFIG_MAP, "it", ns)
        events = [await anext(changes) for _ in range(2)]
    assert [event.type for event in events] == [MODIFIED, DELETED]
    assert events[0].obj["data"] == {"a": "2"}


async def test_events_are_recorded_and_never_sent(real, planned, ns):
    event = Kind("", "v1", "Event", "events", True)
    await planned.create(event, {"metadata": {"name": "e", "namespace": ns}, "message": "hello"})
    assert [event["message"] for event in planned.store.events] == ["hello"]
    assert (await real.list(event, ns)).items == []
    assert planned.counts["create", "events"] == 0


async def test_objects_of_a_kind_and_in_a_namespace_that_are_only_planned(real, planned, ns):
    group = f"{ns}.example.org"
    kind = Kind(group, "v1", "Widget", "widgets", True)
    size = {"type": "string", "maxLength": 3, "default": "m"}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": size}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.resource},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [version],
        },
    }
    widget = {
        "apiVersion": kind.api_version,
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": ns},
    }
    with pytest.raises(NotServed):
        await planned.list(kind)
    await planned.apply(DEFINITION, crd, "me")
    applied = await planned.apply(kind, {**widget, "spec": {"unknown": 1}}, "me")
    assert applied["spec"] == {"size": "m"}
    with pytest.raises(Invalid, match=r'Widget.* "w" is invalid: spec.size: Too long'):
        await planned.apply(kind, {**widget, "spec": {"size": "huge"}}, "me")
    assert len((await planned.list(kind, ns)).items) == 1
    home = f"{ns}-new"
    await planned.create(NAMESPACE, {"metadata": {"name": home}})
    await planned.apply(CONFIG_MAP, config_map(home, a="1"), "me")
    assert await names(planned, home) == {"it"}
    assert await real.get(NAMESPACE, home) is None


@pytest.mark.parametrize(
    ("path", "key", "subresource"),
    [
        ("/api/v1/namespaces/a/configmaps/b", ObjectKey("", "configmaps", "a", "b"), ""),
        ("/api/v1/namespaces/a", ObjectKey("", "namespaces", "", "a"), ""),
        ("/api/v1/namespaces/a/status", ObjectKey("", "namespaces", "", "a"), "status"),
        ("/apis/g/v1/namespaces/a/things/b/status", ObjectKey("g", "things", "a", "b"), "status"),
        ("/apis/g/v1/things", ObjectKey("g", "things", "", ""), ""),
        ("/apis/g/v1/things/a%2Fb", ObjectKey("g", "things", "", "a/b"), ""),
    ],
)
def test_a_path_names_an_object_or_a_collection(path, key, subresource):
    address = parse_path(path)
    assert (address.key, address.subresource) == (key, subresource)


@pytest.mark.parametrize("path", ["/apis", "/api/v1", "/version", "/openapi/v3", "/apis/g/v1"])
def test_other_paths_name_nothing(path):
    assert parse_path(path) is None


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("a=1", True),
        ("a==1", True),
        ("a!=1", False),
        ("a", True),
        ("b", False),
        ("!b", True),
        ("a=1,b", False),
    ],
)
def test_labels_select(selector, selected):
    obj = {"metadata": {"name": "it", "labels": {"a": "1"}}}
    assert is_selected(obj, "", {"labelSelector": selector}) is selected
