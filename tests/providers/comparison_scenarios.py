"""What is compared with crossplane-runtime: each function is a scenario, played in a namespace of its own.

`settled` ends a phase. What the provider does in a phase is recorded, and must be the same behind both.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.providers.scenario_play import (
    CLUSTER_CONFIG,
    CONFIG,
    SECRET,
    THING,
    TICKET,
    ScenarioPlay,
)
from tests.support.providers.scripted_system import LOST

Scenario = Callable[[ScenarioPlay], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {}
CRASHING: set[str] = set()
"""Scenarios that kill the provider: each has a process of its own."""

PAST = "2020-01-01T00:00:00Z"
READY = {"Ready": "Available", "Synced": "ReconcileSuccess"}
FAILED = {"Synced": "ReconcileError"}


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__] = function
    return function


def crashing(function: Scenario) -> Scenario:
    CRASHING.add(function.__name__)
    return scenario(function)


def policies(*actions: str) -> Object:
    return {"managementPolicies": list(actions)}


async def ready_thing(s: ScenarioPlay, name: str = "a", **more: object) -> None:
    """A thing that exists and is ready, as the beginning of something else."""
    await s.config()
    more.setdefault("size", 1)
    await s.thing(name, **more)  # type: ignore[arg-type]
    await s.until(name, **READY)
    await s.settled()


async def aged(s: ScenarioPlay, name: str = "a", kind: Kind = THING) -> None:
    """Let the creation be long ago: what is absent soon after it is waited for."""
    await s.annotate(name, kind, external_create_succeeded=PAST, external_create_pending=PAST)
    await s.settled()


# Life


@scenario
async def created_and_deleted(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def existing_is_adopted(s: ScenarioPlay) -> None:
    s.system.put("a", {"size": 1})
    await ready_thing(s)


@scenario
async def external_name_is_given(s: ScenarioPlay) -> None:
    await ready_thing(s, annotations={"crossplane.io/external-name": "other"})


@scenario
async def external_name_is_assigned_by_the_system(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", "Ticket", size=1)
    await s.until("a", TICKET, **READY)
    await s.settled()
    await aged(s, kind=TICKET)
    await s.delete("a", TICKET)
    await s.until_gone("a", TICKET)
    await s.settled()


@scenario
async def not_ready_until_later(s: ScenarioPlay) -> None:
    s.system.not_ready = "still starting"
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", Ready="Unavailable", Synced="ReconcileSuccess")
    await s.settled()
    s.system.not_ready = ""
    await s.request_reconcile("a", "1")
    await s.until("a", **READY)
    await s.settled()


@scenario
async def spec_is_edited(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.until_calls("Thing/a", "update")
    await s.settled()


@scenario
async def drift_is_repaired(s: ScenarioPlay) -> None:
    await ready_thing(s)
    s.system.put("a", {"size": 7})
    await s.request_reconcile("a", "1")
    await s.until_calls("Thing/a", "update")
    await s.settled()


@scenario
async def drift_is_repaired_at_the_next_poll(s: ScenarioPlay) -> None:
    await ready_thing(s, annotations={"crossplane.io/poll-interval": "1s"})
    s.system.put("a", {"size": 7})
    await s.until_calls("Thing/a", "update")
    await s.settled()


@scenario
async def late_initialised(s: ScenarioPlay) -> None:
    s.system.defaults = {"color": "red"}
    await ready_thing(s)


@scenario
async def made_again_when_deleted_outside(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await aged(s)
    s.system.things.clear()
    await s.request_reconcile("a", "1")
    await s.until_calls("Thing/a", "create")
    await s.until("a", **READY)
    await s.settled()


@scenario
async def absent_for_a_while_after_creation(s: ScenarioPlay) -> None:
    await s.config()
    s.system.put("unrelated", {})
    s.system.hidden = 3
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def labels_are_edited(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.edit("a", {"metadata": {"labels": {"team": "blue"}}})
    await s.settled()


# Management policies


@scenario
async def observe_only(s: ScenarioPlay) -> None:
    s.system.put("a", {"size": 7})
    await ready_thing(s, spec=policies("Observe"))
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def observe_only_and_absent(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", spec=policies("Observe"))
    await s.until("a", **FAILED)
    await s.settled()
    s.system.put("a", {"size": 7})
    await s.request_reconcile("a", "1")
    await s.until("a", **READY)
    await s.settled()


@scenario
async def observed_and_deleted(s: ScenarioPlay) -> None:
    s.system.put("a", {"size": 7})
    await ready_thing(s, spec=policies("Observe", "Delete"))
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def never_updated(s: ScenarioPlay) -> None:
    await ready_thing(s, spec=policies("Observe", "Create", "Delete"))
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.settled()


@scenario
async def never_created(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, spec=policies("Observe", "Update"))
    await s.until("a", **FAILED)
    await s.settled()


@scenario
async def never_deleted(s: ScenarioPlay) -> None:
    await ready_thing(s, spec=policies("Observe", "Create", "Update"))
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def never_late_initialised(s: ScenarioPlay) -> None:
    s.system.defaults = {"color": "red"}
    await ready_thing(s, spec=policies("Observe", "Create", "Update", "Delete"))


@scenario
async def imported(s: ScenarioPlay) -> None:
    s.system.put("a", {"size": 7})
    await ready_thing(s, spec=policies("Observe", "LateInitialize"))
    s.system.put("a", {"size": 7, "color": "red"})
    await s.request_reconcile("a", "1")
    await s.settled()


@scenario
async def all_policies_by_name(s: ScenarioPlay) -> None:
    await ready_thing(s, spec=policies("Observe", "Create", "Update", "Delete", "LateInitialize"))
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def policies_that_are_not_supported(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, spec=policies("Create"))
    await s.until("a", **FAILED)
    await s.settled()
    await s.edit("a", {"spec": policies("*")})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def paused_by_no_policies(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, spec=policies())
    await s.until("a", Synced="ReconcilePaused")
    await s.settled()
    await s.edit("a", {"spec": policies("*")})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def paused_and_resumed(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.annotate("a", paused="true")
    await s.until("a", Synced="ReconcilePaused")
    await s.settled()
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.settled()
    await s.annotate("a", paused=None)
    await s.until_calls("Thing/a", "update")
    await s.until("a", Synced="ReconcileSuccess")
    await s.settled()


@scenario
async def paused_while_deleted(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await aged(s)
    await s.annotate("a", paused="true")
    await s.until("a", Synced="ReconcilePaused")
    await s.delete("a")
    await s.settled()
    await s.annotate("a", paused=None)
    await s.until_gone("a")
    await s.settled()


# Failures of calls


@scenario
async def connect_fails(s: ScenarioPlay) -> None:
    s.system.fail("connect", "no route", "no route")
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def observe_fails(s: ScenarioPlay) -> None:
    s.system.fail("observe", "not today", "not today")
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def observe_fails_of_what_was_ready(s: ScenarioPlay) -> None:
    await ready_thing(s)
    s.system.fail("observe", "not today")
    await s.request_reconcile("a", "1")
    await s.until("a", **READY)
    await s.settled()


@scenario
async def create_fails(s: ScenarioPlay) -> None:
    s.system.fail("create", "too large", "too large")
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def create_fails_of_what_the_system_names(s: ScenarioPlay) -> None:
    s.system.fail("create", "too large")
    await s.config()
    await s.thing("a", "Ticket", size=1)
    await s.until("a", TICKET, **READY)
    await s.settled()


@scenario
async def answer_to_create_is_lost(s: ScenarioPlay) -> None:
    s.system.fail("create", LOST)
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def update_fails(s: ScenarioPlay) -> None:
    s.system.fail("update", "not while it runs", "not while it runs")
    await ready_thing(s)
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.until_calls("Thing/a", "update", "done")
    await s.until("a", Synced="ReconcileSuccess")
    await s.settled()


@scenario
async def delete_fails(s: ScenarioPlay) -> None:
    s.system.fail("delete", "in use", "in use")
    await ready_thing(s)
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


# Provider configs


@scenario
async def provider_config_comes_later(s: ScenarioPlay) -> None:
    await s.thing("a", size=1)
    await s.until("a", **FAILED)
    await s.settled()
    await s.config()
    await s.until("a", **READY)
    await s.settled()


@scenario
async def provider_config_of_the_cluster(s: ScenarioPlay) -> None:
    await s.create(s.config_manifest(CLUSTER_CONFIG, s.namespace))
    reference = {"kind": "ClusterProviderConfig", "name": s.namespace}
    await s.thing("a", size=1, spec={"providerConfigRef": reference})
    await s.until("a", **READY)
    await s.settled()
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()
    await s.delete(s.namespace, CLUSTER_CONFIG)
    await s.until_gone(s.namespace, CLUSTER_CONFIG)


@scenario
async def credentials_from_a_secret(s: ScenarioPlay) -> None:
    s.system.secret = "sesame"
    secret = {"name": "login", "namespace": s.namespace, "key": "password"}
    await s.config(source="Secret", secretRef=secret)
    await s.thing("a", size=1)
    await s.until("a", **FAILED)
    await s.settled()
    await s.create({"kind": "Secret", "metadata": {"name": "login"}, "data": {"password": "c2VzYW1l"}})
    await s.until("a", **READY)
    await s.settled()


@scenario
async def credentials_are_wrong(s: ScenarioPlay) -> None:
    s.system.secret = "sesame"
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **FAILED)
    await s.settled()


@scenario
async def provider_config_is_deleted_while_it_is_used(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.delete("default", CONFIG)
    await s.until("default", CONFIG, Terminating="InUse")
    await s.settled()


@scenario
async def another_provider_config_is_used(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.config("second")
    await s.edit("a", {"spec": {"providerConfigRef": {"name": "second"}}})
    await s.until_calls("Thing/a", "observe")
    await s.settled()


# Crashes


@crashing
async def crash_before_create(s: ScenarioPlay) -> None:
    s.system.crash("create", "before")
    await ready_thing(s)


@crashing
async def crash_after_create(s: ScenarioPlay) -> None:
    s.system.crash("create", "after")
    await ready_thing(s)


@crashing
async def crash_after_create_of_what_the_system_names(s: ScenarioPlay) -> None:
    s.system.crash("create", "after")
    await s.config()
    await s.thing("a", "Ticket", size=1)
    await s.until("a", TICKET, Ready="Creating", **FAILED)
    await s.settled()
    await s.annotate("a", TICKET, external_create_pending=None, external_name="id-1")
    await s.until("a", TICKET, **READY)
    await s.settled()


@crashing
async def crash_after_the_external_name(s: ScenarioPlay) -> None:
    s.writes.crash("external-name", "after")
    await ready_thing(s)


@crashing
async def crash_after_create_pending(s: ScenarioPlay) -> None:
    s.writes.crash("external-create-pending", "after")
    await ready_thing(s)


@crashing
async def crash_before_create_succeeded(s: ScenarioPlay) -> None:
    s.writes.crash("external-create-succeeded", "before")
    await ready_thing(s)


@crashing
async def crash_after_create_succeeded(s: ScenarioPlay) -> None:
    s.writes.crash("external-create-succeeded", "after")
    await ready_thing(s)


@crashing
async def crash_after_update(s: ScenarioPlay) -> None:
    s.system.crash("update", "after")
    await ready_thing(s)
    await s.edit("a", {"spec": {"forProvider": {"size": 2}}})
    await s.until_calls("Thing/a", "update", "crash")
    await s.until("a", Synced="ReconcileSuccess")
    await s.settled()


@crashing
async def crash_after_delete(s: ScenarioPlay) -> None:
    s.system.crash("delete", "after")
    await ready_thing(s)
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@crashing
async def crash_after_the_connection_secret(s: ScenarioPlay) -> None:
    s.system.created_connection = {"password": "sesame"}
    s.writes.crash("data.password", "after")
    await ready_thing(s, spec={"writeConnectionSecretToRef": {"name": "connection"}})


# Writes that the API server refuses


@scenario
async def create_pending_meets_a_conflict(s: ScenarioPlay) -> None:
    s.writes.refuse("external-create-pending", 409)
    await ready_thing(s)


@scenario
async def create_succeeded_meets_a_conflict(s: ScenarioPlay) -> None:
    s.writes.refuse("external-create-succeeded", 409)
    await ready_thing(s)


@scenario
async def name_from_the_system_meets_a_conflict(s: ScenarioPlay) -> None:
    s.writes.refuse("external-create-succeeded", 409)
    await s.config()
    await s.thing("a", "Ticket", size=1)
    await s.until("a", TICKET, **READY)
    await s.settled()


@scenario
async def create_succeeded_meets_an_error(s: ScenarioPlay) -> None:
    s.writes.refuse("external-create-succeeded", 500, 500)
    await ready_thing(s)


@scenario
async def external_name_meets_an_error(s: ScenarioPlay) -> None:
    s.writes.refuse("external-name", 500)
    await s.config()
    await s.thing("a", size=1)
    await s.until("a", **READY)
    await s.settled()


@scenario
async def finalizer_meets_an_error(s: ScenarioPlay) -> None:
    s.writes.refuse("metadata.finalizers", 500)
    await ready_thing(s)


@scenario
async def connection_secret_meets_a_conflict(s: ScenarioPlay) -> None:
    s.writes.refuse("data.host", 409)
    s.system.connection = {"host": "h1"}
    await ready_thing(s, spec={"writeConnectionSecretToRef": {"name": "connection"}})


# Deletion


@scenario
async def deleted_while_others_need_it(s: ScenarioPlay) -> None:
    await ready_thing(s, finalizers=["example.org/other"])
    await aged(s)
    await s.delete("a")
    await s.until_calls("Thing/a", "observe")
    await s.settled()
    await s.edit("a", {"metadata": {"finalizers": ["finalizer.managedresource.crossplane.io"]}})
    await s.until_gone("a")
    await s.settled()


@scenario
async def deleted_without_ever_existing(s: ScenarioPlay) -> None:
    await s.config()
    await s.thing("a", size=1, spec=policies("Observe", "Delete"))
    await s.until("a", Synced="ReconcileSuccess")
    await s.settled()
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def deleted_when_already_gone_outside(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await aged(s)
    s.system.things.clear()
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


@scenario
async def deletion_takes_time(s: ScenarioPlay) -> None:
    await ready_thing(s)
    s.system.lingering = 2
    await aged(s)
    await s.delete("a")
    await s.until_gone("a")
    await s.settled()


# References


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


# Connection details


@scenario
async def connection_details_are_merged(s: ScenarioPlay) -> None:
    s.system.created_connection = {"password": "sesame"}
    s.system.connection = {"host": "h1"}
    await ready_thing(s, spec={"writeConnectionSecretToRef": {"name": "connection"}})
    s.system.connection = {"host": "h2"}
    await s.request_reconcile("a", "1")
    await s.settled()


@scenario
async def connection_secret_of_somebody_else(s: ScenarioPlay) -> None:
    await s.create({"kind": "Secret", "metadata": {"name": "connection"}})
    await s.config()
    s.system.connection = {"host": "h1"}
    await s.thing("a", size=1, spec={"writeConnectionSecretToRef": {"name": "connection"}})
    await s.until("a", **FAILED)
    await s.settled()


@scenario
async def connection_secret_is_made_again(s: ScenarioPlay) -> None:
    s.system.connection = {"host": "h1"}
    await ready_thing(s, spec={"writeConnectionSecretToRef": {"name": "connection"}})
    await s.delete("connection", SECRET)
    await s.until_gone("connection", SECRET)
    await s.request_reconcile("a", "1")
    await s.settled()


# Requests


@scenario
async def reconcile_is_requested(s: ScenarioPlay) -> None:
    await ready_thing(s)
    await s.request_reconcile("a", "first")
    await s.settled()
    await s.request_reconcile("a", "second")
    await s.settled()
