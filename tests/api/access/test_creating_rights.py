"""The right to create, for requests that create or change: an apply, or a PUT of a kind that it creates."""

from __future__ import annotations

import pytest

from tests.support.api.client import APPLY_PATCH, MERGE_PATCH
from tests.support.api.collection import Collection
from tests.support.api.polling import eventually

CONFIGMAP = ("v1", "ConfigMap", "configmaps")
LEASE = ("coordination.k8s.io/v1", "Lease", "leases")


def apply(collection, **options):
    return collection.apply("one", {"metadata": {"labels": {"a": "b"}}}, **options)


def put(collection, **options):
    obj = collection.object("one", {"labels": {"a": "b"}})
    current = collection.get("one")
    if current.status == 200:
        obj = {**current.json, "metadata": {**current.json["metadata"], "labels": {"a": "b"}}}
    return collection.put(obj, **options)


def merge(collection, **options):
    return collection.merge("one", {"metadata": {"labels": {"a": "b"}}}, **options)


@pytest.fixture
def allowed(grants, admin, ns, bob):
    """The objects of a kind, read by user bob, who has these rights."""

    def grant(kind, verbs, names=None):
        api_version, name, plural = kind
        group = api_version.rpartition("/")[0]
        rule = {"apiGroups": [group], "resources": [plural, f"{plural}/status"], "verbs": ["get", *verbs]}
        grants.role("given", [{**rule, **({"resourceNames": names} if names else {})}])
        grants.bind(bob.name, "given")
        collection = Collection(bob, api_version, name, plural, ns)
        eventually(lambda: collection.get("one").status in (200, 404))
        return collection

    return grant


@pytest.mark.parametrize(
    ("kind", "write", "verbs", "present", "status"),
    [
        (CONFIGMAP, apply, ["patch"], True, 200),
        (CONFIGMAP, apply, ["patch"], False, 403),
        (CONFIGMAP, apply, ["patch", "create"], False, 201),
        (CONFIGMAP, apply, ["create", "update"], False, 403),
        (CONFIGMAP, merge, ["patch"], False, 404),
        (CONFIGMAP, merge, ["patch", "create"], False, 404),
        (CONFIGMAP, put, ["update"], True, 200),
        (CONFIGMAP, put, ["update"], False, 404),
        (CONFIGMAP, put, ["update", "create"], False, 404),
        (LEASE, put, ["update"], True, 200),
        (LEASE, put, ["update"], False, 403),
        (LEASE, put, ["update", "create"], False, 201),
        (LEASE, put, ["create"], False, 403),
        (LEASE, apply, ["patch"], False, 403),
        (LEASE, apply, ["patch", "create"], False, 201),
    ],
)
def test_creating_needs_the_right_to_create(allowed, admin, kind, write, verbs, present, status):
    observed = allowed(kind, verbs)
    if present:
        observed.with_client(admin).create("one")
    assert write(observed, dryRun="All").status == status
    assert write(observed).status == status


def test_the_refusal_names_the_right_that_is_missing(allowed, bob, ns):
    observed = allowed(CONFIGMAP, ["patch"])
    status = apply(observed).refused(
        403,
        "Forbidden",
        f'configmaps "one" is forbidden: User "{bob.name}" cannot create resource "configmaps" in API '
        f'group "" in the namespace "{ns}"',
    )
    assert status["details"] == {"name": "one", "kind": "configmaps"}


def test_an_object_that_is_wrong_is_refused_for_that_first(allowed):
    observed = allowed(CONFIGMAP, ["patch"])
    assert observed.apply("one", {"data": {"not a key": "x"}}).status == 422


def test_a_right_to_create_one_object_is_enough(allowed):
    assert apply(allowed(CONFIGMAP, ["patch", "create"], ["one"])).status == 201


def test_a_right_to_create_another_object_is_not(allowed, admin):
    observed = allowed(CONFIGMAP, ["patch"], ["one"])
    assert apply(observed).status == 403


@pytest.mark.parametrize("content", [APPLY_PATCH, MERGE_PATCH])
def test_a_status_of_a_missing_object_returns_404(widgets, grants, bob, content):
    group = widgets.api_version.partition("/")[0]
    rights = {"apiGroups": [group], "resources": ["widgets", "widgets/status"], "verbs": ["get", "patch"]}
    grants.role("given", [rights])
    grants.bind(bob.name, "given")
    observed = widgets.with_client(bob)
    eventually(lambda: observed.get("one").status == 404)
    body = {"apiVersion": observed.api_version, "kind": observed.kind, "status": {"phase": "x"}}
    answer = bob.patch(observed.at("one", "status"), body, content, **{"fieldManager": "tester"})
    assert (answer.status, answer.reason) == (404, "NotFound")
