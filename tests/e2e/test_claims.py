"""Claims (reference: claims §§1–8): binding, both directions, secrets, deletion, conditions, events."""

from __future__ import annotations

import asyncio
import base64

import pytest

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    SEVERITY_WARNING,
    STATUS_FALSE,
    TARGET_COMPOSITE_AND_CLAIM,
    Condition,
    Response,
    Result,
)
from tests.support.e2e.pipelines import calling, served
from tests.support.e2e.scenario import CONFIG_MAP, CRD, DEFINITION, SECRET, condition
from tests.support.e2e.things import message_of, until_event_recorded

pytestmark = pytest.mark.xdist_group("e2e")

READY = condition("Ready", "True", "Available")
WAITING = condition("Ready", "False", "Waiting")


async def test_a_claim_gets_a_composite_resource_and_becomes_ready_with_it(s):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("mine", {"size": "3"}, labels={"team": "a"})
    claim = await s.claim_that_is("mine", READY)
    assert condition("Synced", "True", "ReconcileSuccess")(claim)
    assert claim["status"]["size"] == "3"
    assert claim["spec"]["compositionRef"] == {"name": s.id}
    assert claim["spec"]["compositionRevisionRef"]["name"].startswith(f"{s.id}-")
    xr = await s.composite_of(claim)
    assert xr["metadata"]["name"].startswith("mine-")
    assert xr["metadata"]["labels"]["team"] == "a"
    messages = {message for _, _, message in await s.events(claim)}
    assert "Successfully bound composite resource" in messages


async def test_a_field_that_a_user_removes_from_a_claim_leaves_the_composite_resource(s):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("mine", {"size": "3", "mode": "fast"}, labels={"team": "a"})
    claim = await s.claim_that_is("mine", READY)
    await s.claim("mine", {"size": "4"})
    name = claim["spec"]["resourceRef"]["name"]
    xr = await s.until(s.xrs, name, lambda xr: xr["spec"].get("size") == "4")
    assert "mode" not in xr["spec"]
    assert "team" not in xr["metadata"]["labels"]
    await s.claim_that_is("mine", lambda claim: claim["status"].get("size") == "4")


async def test_a_claim_takes_over_the_composite_resource_that_it_names(s):
    await s.offer()
    await s.compose(s.config_map())
    body = {"apiVersion": s.api_version, "kind": "XDb", "metadata": {"name": s.id}}
    await s.client.create(s.xrs, {**body, "spec": {"size": "1", "mode": "old"}}, "somebody")
    await s.until(s.xrs, s.id, READY)
    ref = {"apiVersion": s.api_version, "kind": "XDb", "name": s.id}
    await s.claim("mine", {"size": "2", "mode": "new", "resourceRef": ref})
    await s.claim_that_is("mine", READY)
    xr = await s.until(s.xrs, s.id, lambda xr: xr["spec"]["size"] == "2")
    assert xr["spec"]["claimRef"]["name"] == "mine"
    # Once it is the claim's, fields removed from the claim go, whoever wrote them first.
    await s.claim("mine", {"size": "2", "resourceRef": ref})
    await s.until(s.xrs, s.id, lambda xr: "mode" not in xr["spec"])


async def test_a_claim_leaves_a_composite_resource_alone_that_is_bound_to_another(s):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("first")
    first = await s.claim_that_is("first", READY)
    await s.claim("second", {"resourceRef": first["spec"]["resourceRef"], "size": "9"})
    second = await s.claim_that_is("second", condition("Synced", "False", "ReconcileError"))
    [synced] = [c for c in second["status"]["conditions"] if c["type"] == "Synced"]
    name = first["spec"]["resourceRef"]["name"]
    assert synced["message"] == (
        f'refusing to operate on composite resource "{name}" that is not bound to this claim: '
        f'bound to claim "first" in namespace "{s.id}"'
    )
    assert (await s.composite_of(first))["spec"].get("size") is None


async def test_a_claim_neither_reads_changes_nor_deletes_a_composite_resource_that_something_controls(s):
    await publishing(s)
    ref = await free_composite(s)
    parent = await s.client.get(s.xrs, ref["name"])
    owner = {**ref, "uid": parent["metadata"]["uid"], "controller": True}
    ref = {**ref, "name": f"{s.id}-child"}
    metadata = {"name": ref["name"], "ownerReferences": [owner]}
    body = {"apiVersion": s.api_version, "kind": "XDb", "metadata": metadata, "spec": {}}
    await s.client.create(s.xrs, body, "somebody")
    before = await s.until(s.xrs, ref["name"], READY)
    fields = {"size": "9", "resourceRef": ref, "writeConnectionSecretToRef": {"name": "stolen"}}
    await s.claim("thief", fields)
    thief = await s.claim_that_is("thief", condition("Synced", "False", "ReconcileError"))
    assert f'controlled by XDb "{s.id}"' in message_of(thief)
    assert await s.client.get(SECRET, "stolen", s.id) is None
    await s.client.delete(s.claims, "thief", s.id)
    await s.until_gone(s.claims, "thief")
    after = await s.client.get(s.xrs, ref["name"])
    assert after["spec"] == before["spec"]
    assert "deletionTimestamp" not in after["metadata"]


async def test_a_claim_binds_a_composite_resource_once_it_has_no_controller_any_more(s):
    await publishing(s)
    ref = await free_composite(s)
    parent = await s.client.get(s.xrs, ref["name"])
    owner = {**ref, "uid": parent["metadata"]["uid"], "controller": True}
    ref = {**ref, "name": f"{s.id}-child"}
    metadata = {"name": ref["name"], "ownerReferences": [owner]}
    body = {"apiVersion": s.api_version, "kind": "XDb", "metadata": metadata, "spec": {}}
    await s.client.create(s.xrs, body, "somebody")
    await s.claim("heir", {"resourceRef": ref})
    await s.claim_that_is("heir", condition("Synced", "False", "ReconcileError"))
    await s.client.patch_merge(s.xrs, ref["name"], {"metadata": {"ownerReferences": None}})
    await s.claim_that_is("heir", READY)


async def publishing(s):
    """Offer what publishes a connection secret, and compose it."""
    await s.offer()
    details = [{"name": "user", "type": "FromValue", "value": "root"}]
    await s.compose(
        s.config_map(connectionDetails=details), writeConnectionSecretsToNamespace="crossplane-system"
    )


async def free_composite(s):
    """Make a composite resource that no claim has; how claims refer to it."""
    body = {"apiVersion": s.api_version, "kind": "XDb", "metadata": {"name": s.id}, "spec": {}}
    await s.client.create(s.xrs, body, "somebody")
    await s.until(s.xrs, s.id, READY)
    return {"apiVersion": s.api_version, "kind": "XDb", "name": s.id}


async def race(s, names, ref):
    """Have many claims name one composite resource at once; return the winner and the losers."""
    fields = {"resourceRef": ref}
    await asyncio.gather(
        *(s.claim(name, {**fields, "writeConnectionSecretToRef": {"name": name}}) for name in names)
    )
    xr = await s.until(s.xrs, ref["name"], lambda xr: xr["spec"].get("claimRef"))
    winner = xr["spec"]["claimRef"]["name"]
    losers = [name for name in names if name != winner]
    for loser in losers:
        await s.claim_that_is(loser, condition("Synced", "False", "ReconcileError"))
    await s.claim_that_is(winner, READY)
    return winner, losers


async def test_of_many_claims_that_name_one_composite_resource_one_gets_it(s):
    await publishing(s)
    ref = await free_composite(s)
    winner, losers = await race(s, [f"racer-{number}" for number in range(8)], ref)
    assert await s.client.get(SECRET, winner, s.id) is not None
    for name in losers:
        loser = await s.client.get(s.claims, name, s.id)
        messages = [c["message"] for c in loser["status"]["conditions"] if c["type"] == "Synced"]
        assert f'bound to claim "{winner}" in namespace "{s.id}"' in messages[0]
        assert not READY(loser)
        assert await s.client.get(SECRET, name, s.id) is None
        events = {message for _, _, message in await s.events(loser)}
        assert "Successfully bound composite resource" not in events


async def test_of_many_claims_that_name_a_missing_composite_one_creates_it(s):
    await publishing(s)
    ref = {"apiVersion": s.api_version, "kind": "XDb", "name": s.id}
    winner, losers = await race(s, [f"racer-{number}" for number in range(8)], ref)
    assert await s.client.get(SECRET, winner, s.id) is not None
    for name in losers:
        assert await s.client.get(SECRET, name, s.id) is None
    # What a claim made by its name follows the claim as any other does.
    await s.claim(winner, {"resourceRef": ref, "size": "2", "mode": "fast"})
    await s.until(s.xrs, s.id, lambda xr: xr["spec"].get("mode") == "fast")
    await s.claim(winner, {"resourceRef": ref, "size": "2"})
    await s.until(s.xrs, s.id, lambda xr: "mode" not in xr["spec"])


async def test_a_claim_without_its_composite_resource_goes_at_once_and_leaves_it(s):
    await publishing(s)
    winner, losers = await race(s, ["first", "second"], await free_composite(s))
    await s.client.delete(s.claims, losers[0], s.id)
    await s.until_gone(s.claims, losers[0])
    xr = await s.client.get(s.xrs, s.id)
    assert xr["spec"]["claimRef"]["name"] == winner
    assert "deletionTimestamp" not in xr["metadata"]


async def test_a_claim_that_loses_its_composite_resource_loses_the_secret_and_is_not_ready(s):
    await publishing(s)
    await s.claim("mine", {"writeConnectionSecretToRef": {"name": "out"}})
    claim = await s.claim_that_is("mine", READY)
    other = {**(await s.composite_of(claim))["spec"]["claimRef"], "name": "other"}
    name = claim["spec"]["resourceRef"]["name"]
    await s.client.patch_merge(s.xrs, name, {"spec": {"claimRef": other}}, "", "somebody")
    claim = await s.claim_that_is("mine", condition("Synced", "False", "ReconcileError"))
    assert WAITING(claim)
    assert "connectionDetails" not in claim["status"]
    assert await s.client.get(SECRET, "out", s.id) is None
    # Our finalizer was on it while it was bound; that must not block it now.
    await s.client.delete(s.claims, "mine", s.id)
    await s.until_gone(s.claims, "mine")
    assert "deletionTimestamp" not in (await s.client.get(s.xrs, name))["metadata"]


async def test_a_claim_waits_for_its_composite_resource_before_it_hands_over_the_secret(s):
    await s.offer(connectionSecretKeys=["user"])
    details = [
        {"name": "user", "type": "FromValue", "value": "root"},
        {"name": "hidden", "type": "FromValue", "value": "x"},
    ]
    await s.compose(
        s.config_map(ready=False, connectionDetails=details),
        writeConnectionSecretsToNamespace="crossplane-system",
    )
    await s.claim("mine", {"writeConnectionSecretToRef": {"name": "out"}})
    claim = await s.claim_that_is("mine", WAITING)
    xr = await s.until(s.xrs, claim["spec"]["resourceRef"]["name"], condition("Synced", "True"))
    assert await s.client.get(SECRET, "out", s.id) is None
    [ref] = xr["spec"]["resourceRefs"]
    await s.client.patch_merge(CONFIG_MAP, ref["name"], {"data": {"ready": "yes"}}, s.id)
    claim = await s.claim_that_is("mine", READY)
    assert claim["status"]["connectionDetails"]["lastPublishedTime"]
    secret = await s.client.get(SECRET, "out", s.id)
    assert secret["data"] == {"user": base64.b64encode(b"root").decode()}
    assert secret["metadata"]["ownerReferences"][0]["uid"] == claim["metadata"]["uid"]
    await s.client.delete(s.claims, "mine", s.id)
    await s.until_gone(SECRET, "out")
    await s.until_gone(s.xrs, xr["metadata"]["name"])


async def test_new_connection_details_reach_the_claim(s):
    def step(value):
        details = [{"name": "user", "type": "FromValue", "value": value}]
        return s.config_map(connectionDetails=details)

    await s.offer()
    await s.compose(step("one"), writeConnectionSecretsToNamespace="crossplane-system")
    await s.claim("mine", {"writeConnectionSecretToRef": {"name": "out"}})
    await s.claim_that_is("mine", READY)
    for value in ("two", "three"):
        await s.compose(step(value), writeConnectionSecretsToNamespace="crossplane-system")
        expected = {"user": base64.b64encode(value.encode()).decode()}
        await s.until(SECRET, "out", lambda secret, expected=expected: secret["data"] == expected)


async def test_a_secret_of_another_owner_is_not_overwritten(s):
    await s.offer()
    await s.compose(s.config_map(), writeConnectionSecretsToNamespace="crossplane-system")
    secret_body = {"metadata": {"name": "out", "namespace": s.id}, "type": "Opaque", "data": {"a": "Yg=="}}
    await s.client.create(SECRET, secret_body)
    await s.claim("mine", {"writeConnectionSecretToRef": {"name": "out"}})
    claim = await s.claim_that_is("mine", condition("Synced", "False", "ReconcileError"))
    [synced] = [c for c in claim["status"]["conditions"] if c["type"] == "Synced"]
    assert synced["message"] == (
        "cannot propagate connection details from composite: cannot create or update connection secret: "
        'refusing to modify uncontrolled secret of type "Opaque"'
    )
    assert (await s.client.get(SECRET, "out", s.id))["data"] == {"a": "Yg=="}


async def test_deletion_in_the_background_lets_the_claim_go_first(s):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("mine")
    name = (await s.claim_that_is("mine", READY))["spec"]["resourceRef"]["name"]
    await s.client.patch_merge(s.xrs, name, {"metadata": {"finalizers": ["example.org/held"]}})
    await s.client.delete(s.claims, "mine", s.id)
    await s.until_gone(s.claims, "mine")
    xr = await s.client.get(s.xrs, name)
    assert xr["metadata"]["deletionTimestamp"]
    await s.client.patch_merge(s.xrs, name, {"metadata": {"finalizers": None}})
    await s.until_gone(s.xrs, name)


async def test_deletion_in_the_foreground_keeps_the_claim_until_all_is_gone(s):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("mine", {"compositeDeletePolicy": "Foreground"})
    claim = await s.claim_that_is("mine", READY)
    [ref] = (await s.composite_of(claim))["spec"]["resourceRefs"]
    finalizers_patch = {"metadata": {"finalizers": ["example.org/held"]}}
    await s.client.patch_merge(CONFIG_MAP, ref["name"], finalizers_patch, s.id)
    await s.client.delete(s.claims, "mine", s.id)
    await s.until(CONFIG_MAP, ref["name"], lambda obj: obj["metadata"].get("deletionTimestamp"))
    await s.claim_that_is("mine", condition("Ready", "False", "Deleting"))
    await s.client.patch_merge(CONFIG_MAP, ref["name"], {"metadata": {"finalizers": None}}, s.id)
    await s.until_gone(s.claims, "mine")
    assert await s.client.get(s.xrs, claim["spec"]["resourceRef"]["name"]) is None


async def test_a_paused_claim_changes_nothing_until_it_is_resumed(s):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("mine", {"size": "1"})
    await s.claim_that_is("mine", READY)
    await s.claim("mine", {"size": "2"}, annotations={"crossplane.io/paused": "true"})
    claim = await s.claim_that_is("mine", condition("Synced", "False", "ReconcilePaused"))
    assert (await s.composite_of(claim))["spec"]["size"] == "1"
    await s.claim("mine", {"size": "2"})
    await s.until(s.xrs, claim["spec"]["resourceRef"]["name"], lambda xr: xr["spec"].get("size") == "2")
    await s.claim_that_is("mine", condition("Synced", "True"))


@pytest.mark.embedded_only("kube-controller-manager writes too, and then some of ours are tried twice")
async def test_binding_takes_few_writes_and_a_settled_claim_none(s):
    await s.offer()
    await s.compose(s.config_map(), writeConnectionSecretsToNamespace="crossplane-system")
    await s.claim("mine", {"writeConnectionSecretToRef": {"name": "out"}})
    await s.claim_that_is("mine", READY)
    await asyncio.sleep(0.5)
    # The user's apply; bound, and waiting; told of its Composition, and still waiting; ready. On a busy
    # machine the claim sees its composite resource in two more states on the way.
    assert await s.writes("dbs") <= 8, await s.write_counts("dbs")
    settled = await s.settled_writes()
    # Kubernetes' own annotations are not handed down, so this enqueues the claim for nothing.
    await s.claim("mine", {"writeConnectionSecretToRef": {"name": "out"}}, annotations={"k8s.io/x": "1"})
    assert await s.settled_writes(more_than=settled) == settled + 1, await s.write_counts()


async def test_conditions_and_events_that_functions_address_to_the_claim_arrive(s):
    def function(request):
        return Response(
            request.desired,
            results=(
                Result(SEVERITY_WARNING, "disk is slow", "Disk", TARGET_COMPOSITE_AND_CLAIM),
                Result(SEVERITY_WARNING, "internal"),
            ),
            conditions=(
                Condition("DiskReady", STATUS_FALSE, "Slow", "wait", TARGET_COMPOSITE_AND_CLAIM),
                Condition("Internal", STATUS_FALSE, "Hidden"),
            ),
        )

    with served(function) as address:
        await s.offer()
        await s.compose(await calling(s, address))
        await s.claim("mine")
        claim = await s.claim_that_is("mine", condition("DiskReady", "False", "Slow"))
        assert "Internal" not in {
            status_condition["type"] for status_condition in claim["status"]["conditions"]
        }
        assert (await s.composite_of(claim))["status"]["claimConditionTypes"] == ["DiskReady"]
        await until_event_recorded(s, claim, "Warning", "Disk", "disk is slow")
        assert not any("internal" in message for _, _, message in await s.events(claim))


async def test_a_condition_that_a_failed_run_did_not_reach_is_unknown_on_the_claim(s):
    def function(request):
        if request.observed.composite.object["spec"].get("mode") == "boom":
            return Response(request.desired, results=(Result(SEVERITY_FATAL, "boom"),))
        disk_condition = Condition("DiskReady", STATUS_FALSE, "Slow", None, TARGET_COMPOSITE_AND_CLAIM)
        return Response(request.desired, conditions=(disk_condition,))

    with served(function) as address:
        await s.offer()
        await s.compose(await calling(s, address))
        await s.claim("mine")
        await s.claim_that_is("mine", condition("DiskReady", "False"))
        await s.claim("mine", {"mode": "boom"})
        await s.claim_that_is("mine", condition("DiskReady", "Unknown", "FatalError"))
        await s.claim("mine", {"mode": "ok"})
        await s.claim_that_is("mine", condition("DiskReady", "False", "Slow"))


async def test_a_definition_takes_its_claims_and_all_they_stand_for_with_it(s):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("mine")
    claim = await s.claim_that_is("mine", READY)
    [ref] = (await s.composite_of(claim))["spec"]["resourceRefs"]
    await s.client.delete(DEFINITION, s.xrs.resource)
    await s.until_gone(DEFINITION, s.xrs.resource)
    await s.until_gone(CONFIG_MAP, ref["name"])
    for kind in (s.claims, s.xrs):
        assert await s.client.get(CRD, kind.resource) is None


async def test_a_claim_that_is_deleted_while_it_is_being_bound_leaves_nothing_behind(s):
    await s.offer()
    await s.compose(s.config_map())
    for number in range(10):
        await s.claim(f"mine-{number}")
        await asyncio.sleep(number * 0.01)
        await s.client.delete(s.claims, f"mine-{number}", s.id)
    for number in range(10):
        await s.until_gone(s.claims, f"mine-{number}")
    await s.until_none(s.xrs)
