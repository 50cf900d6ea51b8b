"""Writes that meet in a slow webhook: the one that loses builds on what the winner wrote."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.api.client import APPLY_PATCH, Client
from tests.support.api.collection import Collection
from tests.support.api.webhooks import hook, in_force

LEASES = "coordination.k8s.io/v1"


class Meeting:
    """Blocks the first reviews until a number of them have arrived; later ones pass at once."""

    def __init__(self, parties):
        self._barrier = threading.Barrier(parties)
        self._left = parties
        self._lock = threading.Lock()

    def answer(self, request):
        with self._lock:
            waits, self._left = self._left > 0, self._left - 1
        if waits:
            self._barrier.wait(20)
        return {"allowed": True}


@pytest.fixture
def meeting(webhooks, register, ns, configmaps):
    """Have so many writes meet in a webhook of these kinds."""

    def arrange(parties, resources=("configmaps",), groups=("",)):
        rules = [{"apiGroups": list(groups), "apiVersions": ["v1"], "resources": list(resources)}]
        rules[0]["operations"] = ["CREATE", "UPDATE"]
        configmap_rule = hook(webhooks, ns)["rules"][0]
        configuration = {"webhooks": [hook(webhooks, ns, rules=[*rules, configmap_rule], timeoutSeconds=25)]}
        register("validatingwebhookconfigurations", configuration)
        in_force(configmaps, webhooks)
        webhooks.answer = Meeting(parties).answer

    return arrange


def at_once(collection, *writes):
    """The answers to writes that are sent together, each by a client of its own."""
    clients = [Client(collection.client.url, collection.client.ca, collection.client.token) for _ in writes]
    with ThreadPoolExecutor(len(writes)) as pool:
        answers = list(
            pool.map(lambda pair: pair[0](collection.with_client(pair[1])), zip(writes, clients, strict=True))
        )
    for client in clients:
        client.close()
    return answers


def test_two_applies_that_create_an_object_create_it_once(configmaps, meeting):
    meeting(2)
    answers = at_once(
        configmaps,
        lambda own: own.apply("one", {"data": {"a": "1"}}, "first"),
        lambda own: own.apply("one", {"data": {"b": "2"}}, "second"),
    )
    assert sorted(answer.status for answer in answers) == [200, 201], [answer.text for answer in answers]
    assert configmaps.read("one")["data"] == {"a": "1", "b": "2"}


def test_an_apply_that_loses_to_a_create_updates_the_created_object(configmaps, meeting):
    meeting(2)
    created, applied = at_once(
        configmaps,
        lambda own: own.post(own.object("one", data={"a": "1"})),
        lambda own: own.apply("one", {"data": {"b": "2"}}),
    )
    if applied.status == 200:
        assert created.status == 201
        assert configmaps.read("one")["data"] == {"a": "1", "b": "2"}
    else:
        assert (created.status, created.reason, applied.status) == (409, "AlreadyExists", 201)


def test_the_loser_of_two_applies_gets_the_conflict(configmaps, meeting):
    meeting(2)
    answers = at_once(
        configmaps,
        lambda own: own.apply("one", {"data": {"a": "1"}}, "first"),
        lambda own: own.apply("one", {"data": {"a": "2"}}, "second"),
    )
    refused = max(answers, key=lambda answer: answer.status)
    assert sorted(answer.status for answer in answers) == [201, 409]
    assert [cause["reason"] for cause in refused.causes] == ["FieldManagerConflict"]


def test_two_puts_that_create_an_object_create_it_once(admin, ns, meeting):
    leases = Collection(admin, LEASES, "Lease", "leases", ns)
    meeting(2, ["leases"], ["coordination.k8s.io"])
    answers = at_once(
        leases,
        lambda own: own.put(own.object("one", spec={"holderIdentity": "a"})),
        lambda own: own.put(own.object("one", spec={"holderIdentity": "b"})),
    )
    # A Lease cannot be updated without its version, so the loser gets a conflict.
    assert sorted((answer.status, answer.reason) for answer in answers) == [(201, ""), (422, "Invalid")]


@pytest.mark.parametrize("parties", [2, 8])
def test_patches_without_a_resource_version_all_succeed(configmaps, meeting, parties):
    configmaps.create("one", data={"a": "1"})
    meeting(parties)
    writes = [lambda own, n=n: own.merge("one", {"data": {f"k{n}": "v"}}) for n in range(parties)]
    assert [answer.status for answer in at_once(configmaps, *writes)] == [200] * parties
    assert configmaps.read("one")["data"] == {"a": "1", **{f"k{n}": "v" for n in range(parties)}}


def test_applies_to_an_object_that_others_change_all_succeed(configmaps, meeting):
    configmaps.create("one", data={"a": "1"})
    meeting(3)
    answers = at_once(
        configmaps,
        lambda own: own.apply("one", {"data": {"b": "2"}}, "first"),
        lambda own: own.json_patch("one", [{"op": "add", "path": "/data/c", "value": "3"}]),
        lambda own: own.client.patch(
            own.at("one"),
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {"d": "4"}},
            APPLY_PATCH,
            fieldManager="x",
        ),
    )
    assert [answer.status for answer in answers] == [200, 200, 200], [answer.text for answer in answers]
    assert configmaps.read("one")["data"] == {"a": "1", "b": "2", "c": "3", "d": "4"}


def test_a_patch_that_names_a_version_fails_when_another_was_faster(configmaps, meeting):
    version = configmaps.create("one", data={"a": "1"})["metadata"]["resourceVersion"]
    meeting(2)
    patch = {"metadata": {"resourceVersion": version}}
    answers = at_once(
        configmaps,
        lambda own: own.merge("one", {**patch, "data": {"b": "2"}}),
        lambda own: own.merge("one", {**patch, "data": {"c": "3"}}),
    )
    assert sorted((answer.status, answer.reason) for answer in answers) == [(200, ""), (409, "Conflict")]


def test_an_apply_recreates_an_object_deleted_meanwhile(configmaps, webhooks, register, ns):
    configmaps.create("one", data={"a": "1"})
    rules = [{**hook(webhooks, ns)["rules"][0], "operations": ["CREATE", "UPDATE"]}]
    register(
        "validatingwebhookconfigurations", {"webhooks": [hook(webhooks, ns, rules=rules, timeoutSeconds=25)]}
    )
    in_force(configmaps, webhooks)
    deleter = Client(configmaps.client.url, configmaps.client.ca, configmaps.client.token)

    def delete_first(request):
        if request["operation"] == "UPDATE":
            configmaps.with_client(deleter).delete("one").ok(200)
        return {"allowed": True}

    webhooks.answer = delete_first
    assert configmaps.apply("one", {"data": {"b": "2"}}).ok(201)["data"] == {"b": "2"}
    deleter.close()
