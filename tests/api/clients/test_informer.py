"""client-go's informers: a cache that lists, watches, and goes on after its watch was cut."""

from __future__ import annotations

import subprocess

import pytest

pytestmark = pytest.mark.xdist_group("clients")


@pytest.fixture
def start_informer(informer, server, ns):
    """Follow a kind; returns a function that reads the next line."""
    started = []

    def start(group, version, resource):
        process = subprocess.Popen(
            [informer, server.kubeconfig, group, version, resource, ns],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return lambda: process.stdout.readline().rstrip("\n")

    yield start
    for process in started:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def test_custom_objects_come_and_go(start_informer, widgets):
    widgets.create("before")
    group, version = widgets.api_version.split("/")
    line = start_informer(group, version, "widgets")
    assert sorted([line(), line()]) == ["add before", "synced"]
    widgets.create("one", spec={"size": 1})
    assert line() == "add one"
    changed = widgets.merge("one", {"spec": {"size": 2}}).ok(200)
    assert line() == f"update one {changed['metadata']['resourceVersion']}"
    widgets.delete("one").ok(200)
    assert line() == "delete one"


def test_built_in_objects_come_and_go(start_informer, admin, ns):
    from tests.support.api.collection import Collection

    leases = Collection(admin, "coordination.k8s.io/v1", "Lease", "leases", ns)
    line = start_informer("coordination.k8s.io", "v1", "leases")
    assert line() == "synced"
    leases.create("one", spec={"holderIdentity": "me"})
    assert line() == "add one"
    leases.delete("one").ok(200)
    assert line() == "delete one"


def test_an_informer_lists_every_one_of_many_objects(start_informer, widgets):
    group, version = widgets.api_version.split("/")
    line = start_informer(group, version, "widgets")
    assert line() == "synced"
    for number in range(50):
        widgets.create(f"n{number:02}")
    assert [line() for _ in range(50)] == [f"add n{number:02}" for number in range(50)]
