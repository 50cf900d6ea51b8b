"""Providers of the kit at work on a real API server, with a directory as the external system."""

from __future__ import annotations

import asyncio
import base64
import os

import pytest
from tests.support.patience import PATIENCE
from tests.support.provider.provider_case import (
    BOX,
    CLUSTER_CONFIG,
    CLUSTER_USAGE,
    CONFIG,
    LID,
    ROOM,
    USAGE,
    ProviderCase,
    condition,
    provider,
)

from crossply.kube.core_kinds import NAMESPACE, SECRET

NAME = "crossplane.io/external-name"


@pytest.fixture
async def case(client, ns, tmp_path):
    provider_case = ProviderCase(client, ns, str(tmp_path))
    await provider_case.install()
    async with provider(client):
        yield provider_case


def synced_message(obj):
    return condition(obj, "Synced").get("message", "")


async def test_a_resource_is_created_observed_published_updated_and_deleted(case):
    secret = {"writeConnectionSecretToRef": {"name": "box"}}
    await case.managed(BOX, "one", {"content": "books"}, secret)
    box = await case.until_ready(BOX, "one")
    assert case.files()["one"]["content"] == "books"
    assert box["status"]["atProvider"] == {"size": 5}
    assert box["metadata"]["annotations"][NAME] == "one"
    assert box["metadata"]["finalizers"] == ["finalizer.managedresource.crossplane.io"]
    assert box["spec"]["forProvider"]["colour"] == "brown", "late initialisation"
    connection = await case.get(SECRET, "box")
    data = {key: base64.b64decode(value).decode() for key, value in connection["data"].items()}
    assert (connection["type"], data) == (
        "connection.crossplane.io/v1alpha1",
        {"address": "one", "password": "none"},
    )
    assert connection["metadata"]["ownerReferences"][0]["uid"] == box["metadata"]["uid"]
    await case.patch(BOX, "one", {"spec": {"forProvider": {"content": "shoes"}}})
    await case.until_event("one", "UpdatedExternalResource")
    assert case.files()["one"]["content"] == "shoes"
    await case.client.delete(BOX, "one", case.namespace)
    await case.until_gone(BOX, "one")
    assert case.files() == {}
    reasons = {reason for reason, _ in await case.events("one")}
    assert reasons >= {"CreatedExternalResource", "UpdatedExternalResource", "DeletedExternalResource"}
    assert "DriftDetected" not in reasons


async def test_a_settled_resource_costs_an_observation_and_no_request(case):
    poll = {"crossplane.io/poll-interval": "1s"}
    secret = {"writeConnectionSecretToRef": {"name": "box"}}
    await case.managed(BOX, "one", {"content": "books", "colour": "red"}, secret, annotations=poll)
    await case.until_ready(BOX, "one")
    await settled(case)
    before, observed = case.client.counts.copy(), case.log().count("observe one")
    async with asyncio.timeout(PATIENCE):
        while case.log().count("observe one") < observed + 2:
            await asyncio.sleep(0.05)
    assert case.client.counts - before == {}
    assert set(case.log()[-2:]) == {"observe one"}


async def settled(case):
    """Wait until what follows the first reconcile has been written."""
    await case.until_event("one", "CreatedExternalResource")
    await case.until(CONFIG, "mine", lambda config: (config.get("status") or {}).get("users") == 1)


async def test_drift_is_repaired_and_reported_with_the_fields(case):
    poll = {"crossplane.io/poll-interval": "1s"}
    await case.managed(BOX, "one", {"content": "books"}, annotations=poll)
    await case.until_ready(BOX, "one")
    with open(os.path.join(case.directory, "one.json"), "w") as file:
        file.write('{"content": "mice", "colour": "brown"}')
    message = await case.until_event("one", "DriftDetected")
    assert message == "External resource differs from its desired state: content"
    await case.until_event("one", "UpdatedExternalResource")
    assert case.files()["one"]["content"] == "books"


async def test_a_box_that_is_not_ready_has_a_reason(case):
    await case.managed(BOX, "empty", {})
    box = await case.until(BOX, "empty", lambda box: condition(box, "Ready").get("reason") == "Unavailable")
    assert condition(box, "Ready")["message"] == "the box is empty"


async def test_a_name_that_the_external_system_chooses_is_saved(case):
    lid = await case.managed(LID, "one", {})
    lid = await case.until_ready(LID, "one")
    assert lid["metadata"]["annotations"][NAME] == f"lid-{lid['metadata']['uid'][:8]}"
    assert list(case.files()) == [lid["metadata"]["annotations"][NAME]]


async def test_references_are_resolved_as_soon_as_their_object_exists(case):
    await case.managed(BOX, "one", {"content": "x", "lidRef": {"name": "late"}})
    box = await case.until(BOX, "one", synced_message)
    assert synced_message(box) == (
        "cannot resolve references: spec.forProvider.lid: cannot get referenced resource: "
        'Lid.boxes.example.org "late" not found'
    )
    await case.managed(LID, "late", {}, labels={"size": "small"})
    box = await case.until_ready(BOX, "one")
    lid = await case.until_ready(LID, "late")
    assert box["spec"]["forProvider"]["lid"] == lid["metadata"]["annotations"][NAME]
    managers = {entry["manager"]: entry["operation"] for entry in box["metadata"]["managedFields"]}
    assert managers["managed.crossplane.io/api-simple-reference-resolver"] == "Apply"


async def test_selectors_select_by_label_and_lists_are_sorted(case):
    names = []
    for name in ("b", "a"):
        await case.managed(LID, name, {}, labels={"size": "small"})
        names.append((await case.until_ready(LID, name))["metadata"]["annotations"][NAME])
    selector = {"matchLabels": {"size": "small"}}
    parameters = {"content": "x", "lidSelector": selector, "labelSelector": selector}
    await case.managed(BOX, "one", parameters)
    box = await case.until_ready(BOX, "one")
    resolved = box["spec"]["forProvider"]
    assert resolved["labels"] == sorted(names)
    assert resolved["lid"] == names[1]
    assert resolved["lidRef"] == {"name": "a", "namespace": case.namespace}


async def test_a_new_password_is_used_at_once_and_never_shown(case):
    await case.secret("password", key="hush-hush")
    reference = {"passwordSecretRef": {"name": "password", "key": "key"}}
    await case.managed(BOX, "one", {"content": "x", **reference})
    await case.until_ready(BOX, "one")
    assert case.files()["one"]["password"] == "hush-hush"
    await case.secret("password", key="hush-two")
    message = await case.until_event("one", "DriftDetected")
    await case.until_event("one", "UpdatedExternalResource")
    assert case.files()["one"]["password"] == "hush-two"
    assert message.endswith(": password")
    await case.managed(BOX, "two", {"content": "forbidden", **reference})
    box = await case.until(BOX, "two", synced_message)
    assert synced_message(box) == "create failed: forbidden content with password (hidden)"
    assert "crossplane.io/external-create-failed" in box["metadata"]["annotations"]


async def test_a_missing_secret_is_named_and_used_once_it_exists(case):
    reference = {"passwordSecretRef": {"name": "later", "key": "key"}}
    await case.managed(BOX, "one", {"content": "x", **reference})
    box = await case.until(BOX, "one", synced_message)
    place = f'Secret "later" not found in namespace "{case.namespace}"'
    assert synced_message(box) == f"connect failed: {place}"
    await case.secret("later", key="hush-hush")
    await case.until_ready(BOX, "one")


async def test_a_missing_provider_config_is_named_and_used_once_it_exists(case):
    reference = {"providerConfigRef": {"kind": "ProviderConfig", "name": "later"}}
    await case.managed(BOX, "one", {"content": "x"}, reference)
    box = await case.until(BOX, "one", synced_message)
    assert synced_message(box) == (
        'connect failed: cannot get ProviderConfig: ProviderConfig.boxes.example.org "later" not found'
    )
    await case.create(CONFIG, "later", {"directory": case.directory})
    await case.until_ready(BOX, "one")


async def test_a_provider_config_of_the_other_kind_is_mentioned(case):
    name = f"shared-{case.namespace}"
    await case.create(CLUSTER_CONFIG, name, {"directory": case.directory})
    reference = {"providerConfigRef": {"kind": "ProviderConfig", "name": name}}
    await case.managed(BOX, "one", {"content": "x"}, reference)
    box = await case.until(BOX, "one", synced_message)
    assert "not found, but a ClusterProviderConfig of that name exists" in synced_message(box)
    assert synced_message(box).endswith("name its kind in spec.providerConfigRef.kind")


async def test_wrong_credentials_are_reported_with_a_hint_and_without_the_secret(case):
    await case.secret("word", key="wrong")
    secret = {"source": "Secret", "secretRef": {"name": "word", "key": "key"}}
    await case.create(CONFIG, "bad", {"directory": case.directory, "credentials": secret})
    reference = {"providerConfigRef": {"kind": "ProviderConfig", "name": "bad"}}
    await case.managed(BOX, "one", {"content": "x"}, reference)
    box = await case.until(BOX, "one", synced_message)
    assert "the word is (hidden): (hidden) (use another one)" in synced_message(box)


async def test_a_provider_config_in_use_is_not_deleted(case):
    await case.managed(BOX, "one", {"content": "x"})
    box = await case.until_ready(BOX, "one")
    usage = await case.get(USAGE, box["metadata"]["uid"])
    assert usage["metadata"]["labels"] == {
        "crossplane.io/provider-config": "mine",
        "crossplane.io/provider-config-kind": "ProviderConfig",
    }
    await case.until(CONFIG, "mine", lambda config: (config.get("status") or {}).get("users") == 1)
    await case.client.delete(CONFIG, "mine", case.namespace)
    config = await case.until(CONFIG, "mine", lambda config: condition(config, "Terminating"))
    assert condition(config, "Terminating")["reason"] == "InUse"
    assert config["metadata"]["finalizers"] == ["in-use.crossplane.io"]
    await case.client.delete(BOX, "one", case.namespace)
    await case.until_gone(BOX, "one")
    await case.until_gone(CONFIG, "mine")


async def test_deleting_a_namespace_deletes_the_external_resources(case):
    await case.managed(BOX, "one", {"content": "x"})
    await case.until_ready(BOX, "one")
    await case.client.delete(NAMESPACE, case.namespace)
    async with asyncio.timeout(PATIENCE):
        while await case.client.get(NAMESPACE, case.namespace) is not None:
            await asyncio.sleep(0.05)
    assert case.files() == {}


async def test_a_cluster_wide_configuration_can_be_used_from_any_namespace(case):
    name = f"all-{case.namespace}"
    await case.create(CLUSTER_CONFIG, name, {"directory": case.directory})
    reference = {"providerConfigRef": {"kind": "ClusterProviderConfig", "name": name}}
    await case.managed(BOX, "one", {"content": "x"}, reference)
    await case.until_ready(BOX, "one")
    async with asyncio.timeout(PATIENCE):
        while ((await case.client.get(CLUSTER_CONFIG, name)).get("status") or {}).get("users") != 1:
            await asyncio.sleep(0.05)


async def test_a_kind_may_belong_to_the_whole_cluster(case):
    name = f"room-{case.namespace}"
    await case.create(CLUSTER_CONFIG, name, {"directory": case.directory})
    await case.secret("password", key="hush-hush")
    secrets = {"writeConnectionSecretToRef": {"name": "room", "namespace": case.namespace}}
    parameters = {
        "content": "x",
        "passwordSecretRef": {"name": "password", "namespace": case.namespace, "key": "key"},
    }
    await case.managed(ROOM, name, parameters, {"providerConfigRef": {"name": name}, **secrets})
    room = await case.until_ready(ROOM, name)
    assert case.files()[name]["password"] == "hush-hush"
    usage = await case.get(CLUSTER_USAGE, room["metadata"]["uid"])
    assert usage["providerConfigRef"] == {"kind": "ClusterProviderConfig", "name": name}
    assert "address" in (await case.get(SECRET, "room"))["data"]
    await case.patch(ROOM, name, {"spec": {"deletionPolicy": "Orphan"}})
    await case.client.delete(ROOM, name)
    await case.until_gone(ROOM, name)
    assert list(case.files()) == [name]


async def test_a_secret_of_another_owner_is_refused(case):
    await case.secret("taken", key="value")
    await case.managed(BOX, "one", {"content": "x"}, {"writeConnectionSecretToRef": {"name": "taken"}})
    box = await case.until(BOX, "one", synced_message)
    assert synced_message(box) == (
        'cannot create or update connection secret: refusing to modify uncontrolled secret of type "Opaque"'
    )
    assert case.files() == {}


async def test_an_orphan_stays_outside(case):
    policies = {"managementPolicies": ["Observe", "Create", "Update", "LateInitialize"]}
    await case.managed(BOX, "one", {"content": "x"}, policies)
    await case.until_ready(BOX, "one")
    await case.client.delete(BOX, "one", case.namespace)
    await case.until_gone(BOX, "one")
    assert list(case.files()) == ["one"]


async def test_a_request_to_reconcile_is_handled(case):
    await case.managed(BOX, "one", {"content": "x"})
    await case.until_ready(BOX, "one")
    requested = {"metadata": {"annotations": {"crossplane.io/reconcile-requested-at": "today"}}}
    await case.patch(BOX, "one", requested)
    await case.until(BOX, "one", lambda box: box["status"].get("lastHandledReconcileAt") == "today")
