"""Providers of the kit at work on a real API server, with a directory as the external system."""

from __future__ import annotations

import asyncio
import base64
import os

import pytest
from tests.support.patience import PATIENCE
from tests.support.provider.shelves import (
    BOX,
    CLUSTER_CONFIG,
    CLUSTER_USAGE,
    CONFIG,
    LID,
    ROOM,
    USAGE,
    ShelfCase,
    condition,
    provider,
)

from crossply.kube.core_kinds import NAMESPACE, SECRET

NAME = "crossplane.io/external-name"


@pytest.fixture
async def shelf(client, ns, tmp_path):
    case = ShelfCase(client, ns, str(tmp_path))
    await case.install()
    async with provider(client):
        yield case


def synced_message(obj):
    return condition(obj, "Synced").get("message", "")


async def test_a_resource_is_created_observed_published_updated_and_deleted(shelf):
    secret = {"writeConnectionSecretToRef": {"name": "box"}}
    await shelf.managed(BOX, "one", {"content": "books"}, secret)
    box = await shelf.until_ready(BOX, "one")
    assert shelf.files()["one"]["content"] == "books"
    assert box["status"]["atProvider"] == {"size": 5}
    assert box["metadata"]["annotations"][NAME] == "one"
    assert box["metadata"]["finalizers"] == ["finalizer.managedresource.crossplane.io"]
    assert box["spec"]["forProvider"]["colour"] == "brown", "late initialisation"
    connection = await shelf.get(SECRET, "box")
    data = {key: base64.b64decode(value).decode() for key, value in connection["data"].items()}
    assert (connection["type"], data) == (
        "connection.crossplane.io/v1alpha1",
        {"address": "one", "password": "none"},
    )
    assert connection["metadata"]["ownerReferences"][0]["uid"] == box["metadata"]["uid"]
    await shelf.patch(BOX, "one", {"spec": {"forProvider": {"content": "shoes"}}})
    await shelf.until_told("one", "UpdatedExternalResource")
    assert shelf.files()["one"]["content"] == "shoes"
    await shelf.client.delete(BOX, "one", shelf.namespace)
    await shelf.until_gone(BOX, "one")
    assert shelf.files() == {}
    reasons = {reason for reason, _ in await shelf.events("one")}
    assert reasons >= {"CreatedExternalResource", "UpdatedExternalResource", "DeletedExternalResource"}
    assert "DriftDetected" not in reasons


async def test_a_settled_resource_costs_an_observation_and_no_request(shelf):
    poll = {"crossplane.io/poll-interval": "1s"}
    secret = {"writeConnectionSecretToRef": {"name": "box"}}
    await shelf.managed(BOX, "one", {"content": "books", "colour": "red"}, secret, annotations=poll)
    await shelf.until_ready(BOX, "one")
    await settled(shelf)
    before, observed = shelf.client.counts.copy(), shelf.log().count("observe one")
    async with asyncio.timeout(PATIENCE):
        while shelf.log().count("observe one") < observed + 2:
            await asyncio.sleep(0.05)
    assert shelf.client.counts - before == {}
    assert set(shelf.log()[-2:]) == {"observe one"}


async def settled(shelf):
    """Wait until what follows the first reconcile has been written."""
    await shelf.until_told("one", "CreatedExternalResource")
    await shelf.until(CONFIG, "mine", lambda config: (config.get("status") or {}).get("users") == 1)


async def test_drift_is_repaired_and_told_with_the_fields(shelf):
    poll = {"crossplane.io/poll-interval": "1s"}
    await shelf.managed(BOX, "one", {"content": "books"}, annotations=poll)
    await shelf.until_ready(BOX, "one")
    with open(os.path.join(shelf.directory, "one.json"), "w") as file:
        file.write('{"content": "mice", "colour": "brown"}')
    message = await shelf.until_told("one", "DriftDetected")
    assert message == "External resource differs from its desired state: content"
    await shelf.until_told("one", "UpdatedExternalResource")
    assert shelf.files()["one"]["content"] == "books"


async def test_a_box_that_is_not_ready_says_why(shelf):
    await shelf.managed(BOX, "empty", {})
    box = await shelf.until(BOX, "empty", lambda box: condition(box, "Ready").get("reason") == "Unavailable")
    assert condition(box, "Ready")["message"] == "the box is empty"


async def test_a_name_that_the_external_system_chooses_is_kept(shelf):
    lid = await shelf.managed(LID, "one", {})
    lid = await shelf.until_ready(LID, "one")
    assert lid["metadata"]["annotations"][NAME] == f"lid-{lid['metadata']['uid'][:8]}"
    assert list(shelf.files()) == [lid["metadata"]["annotations"][NAME]]


async def test_references_are_resolved_as_soon_as_what_they_name_exists(shelf):
    await shelf.managed(BOX, "one", {"content": "x", "lidRef": {"name": "late"}})
    box = await shelf.until(BOX, "one", synced_message)
    assert synced_message(box) == (
        "cannot resolve references: spec.forProvider.lid: cannot get referenced resource: "
        'Lid.shelf.example.org "late" not found'
    )
    await shelf.managed(LID, "late", {}, labels={"size": "small"})
    box = await shelf.until_ready(BOX, "one")
    lid = await shelf.until_ready(LID, "late")
    assert box["spec"]["forProvider"]["lid"] == lid["metadata"]["annotations"][NAME]
    managers = {entry["manager"]: entry["operation"] for entry in box["metadata"]["managedFields"]}
    assert managers["managed.crossplane.io/api-simple-reference-resolver"] == "Apply"


async def test_selectors_select_by_label_and_lists_are_sorted(shelf):
    names = []
    for name in ("b", "a"):
        await shelf.managed(LID, name, {}, labels={"size": "small"})
        names.append((await shelf.until_ready(LID, name))["metadata"]["annotations"][NAME])
    selector = {"matchLabels": {"size": "small"}}
    parameters = {"content": "x", "lidSelector": selector, "labelSelector": selector}
    await shelf.managed(BOX, "one", parameters)
    box = await shelf.until_ready(BOX, "one")
    resolved = box["spec"]["forProvider"]
    assert resolved["labels"] == sorted(names)
    assert resolved["lid"] == names[1]
    assert resolved["lidRef"] == {"name": "a", "namespace": shelf.namespace}


async def test_a_new_password_is_used_at_once_and_never_told(shelf):
    await shelf.secret("password", key="hush-hush")
    reference = {"passwordSecretRef": {"name": "password", "key": "key"}}
    await shelf.managed(BOX, "one", {"content": "x", **reference})
    await shelf.until_ready(BOX, "one")
    assert shelf.files()["one"]["password"] == "hush-hush"
    await shelf.secret("password", key="hush-two")
    message = await shelf.until_told("one", "DriftDetected")
    await shelf.until_told("one", "UpdatedExternalResource")
    assert shelf.files()["one"]["password"] == "hush-two"
    assert message.endswith(": password")
    await shelf.managed(BOX, "two", {"content": "forbidden", **reference})
    box = await shelf.until(BOX, "two", synced_message)
    assert synced_message(box) == "create failed: forbidden content with password (hidden)"
    assert "crossplane.io/external-create-failed" in box["metadata"]["annotations"]


async def test_a_missing_secret_is_named_and_found_later(shelf):
    reference = {"passwordSecretRef": {"name": "later", "key": "key"}}
    await shelf.managed(BOX, "one", {"content": "x", **reference})
    box = await shelf.until(BOX, "one", synced_message)
    place = f'Secret "later" not found in namespace "{shelf.namespace}"'
    assert synced_message(box) == f"connect failed: {place}"
    await shelf.secret("later", key="hush-hush")
    await shelf.until_ready(BOX, "one")


async def test_a_provider_config_that_is_missing_is_named_and_found_later(shelf):
    reference = {"providerConfigRef": {"kind": "ProviderConfig", "name": "later"}}
    await shelf.managed(BOX, "one", {"content": "x"}, reference)
    box = await shelf.until(BOX, "one", synced_message)
    assert synced_message(box) == (
        'connect failed: cannot get ProviderConfig: ProviderConfig.shelf.example.org "later" not found'
    )
    await shelf.create(CONFIG, "later", {"directory": shelf.directory})
    await shelf.until_ready(BOX, "one")


async def test_a_provider_config_of_the_other_kind_is_mentioned(shelf):
    name = f"shared-{shelf.namespace}"
    await shelf.create(CLUSTER_CONFIG, name, {"directory": shelf.directory})
    reference = {"providerConfigRef": {"kind": "ProviderConfig", "name": name}}
    await shelf.managed(BOX, "one", {"content": "x"}, reference)
    box = await shelf.until(BOX, "one", synced_message)
    assert "not found, but a ClusterProviderConfig of that name exists" in synced_message(box)
    assert synced_message(box).endswith("name its kind in spec.providerConfigRef.kind")


async def test_wrong_credentials_are_told_with_a_hint_and_without_the_secret(shelf):
    await shelf.secret("word", key="wrong")
    secret = {"source": "Secret", "secretRef": {"name": "word", "key": "key"}}
    await shelf.create(CONFIG, "bad", {"directory": shelf.directory, "credentials": secret})
    reference = {"providerConfigRef": {"kind": "ProviderConfig", "name": "bad"}}
    await shelf.managed(BOX, "one", {"content": "x"}, reference)
    box = await shelf.until(BOX, "one", synced_message)
    assert "the word is (hidden): (hidden) (use another one)" in synced_message(box)


async def test_a_provider_config_is_kept_while_it_is_used(shelf):
    await shelf.managed(BOX, "one", {"content": "x"})
    box = await shelf.until_ready(BOX, "one")
    usage = await shelf.get(USAGE, box["metadata"]["uid"])
    assert usage["metadata"]["labels"] == {
        "crossplane.io/provider-config": "mine",
        "crossplane.io/provider-config-kind": "ProviderConfig",
    }
    await shelf.until(CONFIG, "mine", lambda config: (config.get("status") or {}).get("users") == 1)
    await shelf.client.delete(CONFIG, "mine", shelf.namespace)
    config = await shelf.until(CONFIG, "mine", lambda config: condition(config, "Terminating"))
    assert condition(config, "Terminating")["reason"] == "InUse"
    assert config["metadata"]["finalizers"] == ["in-use.crossplane.io"]
    await shelf.client.delete(BOX, "one", shelf.namespace)
    await shelf.until_gone(BOX, "one")
    await shelf.until_gone(CONFIG, "mine")


async def test_a_deleted_namespace_takes_what_is_outside_with_it(shelf):
    await shelf.managed(BOX, "one", {"content": "x"})
    await shelf.until_ready(BOX, "one")
    await shelf.client.delete(NAMESPACE, shelf.namespace)
    async with asyncio.timeout(PATIENCE):
        while await shelf.client.get(NAMESPACE, shelf.namespace) is not None:
            await asyncio.sleep(0.05)
    assert shelf.files() == {}


async def test_a_cluster_wide_configuration_can_be_used_from_any_namespace(shelf):
    name = f"all-{shelf.namespace}"
    await shelf.create(CLUSTER_CONFIG, name, {"directory": shelf.directory})
    reference = {"providerConfigRef": {"kind": "ClusterProviderConfig", "name": name}}
    await shelf.managed(BOX, "one", {"content": "x"}, reference)
    await shelf.until_ready(BOX, "one")
    async with asyncio.timeout(PATIENCE):
        while ((await shelf.client.get(CLUSTER_CONFIG, name)).get("status") or {}).get("users") != 1:
            await asyncio.sleep(0.05)


async def test_a_kind_may_belong_to_the_whole_cluster(shelf):
    name = f"room-{shelf.namespace}"
    await shelf.create(CLUSTER_CONFIG, name, {"directory": shelf.directory})
    await shelf.secret("password", key="hush-hush")
    secrets = {"writeConnectionSecretToRef": {"name": "room", "namespace": shelf.namespace}}
    parameters = {
        "content": "x",
        "passwordSecretRef": {"name": "password", "namespace": shelf.namespace, "key": "key"},
    }
    await shelf.managed(ROOM, name, parameters, {"providerConfigRef": {"name": name}, **secrets})
    room = await shelf.until_ready(ROOM, name)
    assert shelf.files()[name]["password"] == "hush-hush"
    usage = await shelf.get(CLUSTER_USAGE, room["metadata"]["uid"])
    assert usage["providerConfigRef"] == {"kind": "ClusterProviderConfig", "name": name}
    assert "address" in (await shelf.get(SECRET, "room"))["data"]
    await shelf.patch(ROOM, name, {"spec": {"deletionPolicy": "Orphan"}})
    await shelf.client.delete(ROOM, name)
    await shelf.until_gone(ROOM, name)
    assert list(shelf.files()) == [name]


async def test_a_secret_of_somebody_else_is_refused(shelf):
    await shelf.secret("taken", key="value")
    await shelf.managed(BOX, "one", {"content": "x"}, {"writeConnectionSecretToRef": {"name": "taken"}})
    box = await shelf.until(BOX, "one", synced_message)
    assert synced_message(box) == (
        'cannot create or update connection secret: refusing to modify uncontrolled secret of type "Opaque"'
    )
    assert shelf.files() == {}


async def test_an_orphan_stays_outside(shelf):
    policies = {"managementPolicies": ["Observe", "Create", "Update", "LateInitialize"]}
    await shelf.managed(BOX, "one", {"content": "x"}, policies)
    await shelf.until_ready(BOX, "one")
    await shelf.client.delete(BOX, "one", shelf.namespace)
    await shelf.until_gone(BOX, "one")
    assert list(shelf.files()) == ["one"]


async def test_a_request_to_reconcile_is_handled(shelf):
    await shelf.managed(BOX, "one", {"content": "x"})
    await shelf.until_ready(BOX, "one")
    asked = {"metadata": {"annotations": {"crossplane.io/reconcile-requested-at": "today"}}}
    await shelf.patch(BOX, "one", asked)
    await shelf.until(BOX, "one", lambda box: box["status"].get("lastHandledReconcileAt") == "today")
