"""Connection details (reference: reconcile §§5, 11): read from what was composed, published by legacy XRs."""

from __future__ import annotations

import base64

import pytest

from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.scenario import COMPOSITION, SECRET
from tests.support.e2e.things import READY, SYNCED, Things, custom_kind, failing, until_event_recorded

pytestmark = pytest.mark.xdist_group("e2e")


def encoded(**data):
    """The data of a Secret."""
    return {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}


def holding(s, **values):
    """A step that composes a ConfigMap, with connection details."""
    details = [{"name": name, "type": "FromValue", "value": value} for name, value in values.items()]
    base = {"metadata": {"namespace": s.id}}
    return resources(entry("one", base=base, connectionDetails=details))


def to(s, name="out"):
    """A spec with a connection secret reference."""
    return {"writeConnectionSecretToRef": {"name": name, "namespace": s.id}}


async def test_a_legacy_xr_publishes_the_keys_that_its_definition_names(s):
    things = await Things.defined(s, "LegacyCluster", connectionSecretKeys=["user", "host"])
    await things.compose(holding(s, user="root", host="db", hidden="x"))
    await things.apply(s.id, to(s))
    xr = await things.until(s.id, READY, lambda xr: xr["status"].get("connectionDetails"))
    secret = await s.client.get(SECRET, "out", s.id)
    assert secret["type"] == "connection.crossplane.io/v1alpha1"
    assert secret["data"] == encoded(user="root", host="db")
    [owner] = secret["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == (xr["metadata"]["uid"], True)
    assert xr["status"]["connectionDetails"]["lastPublishedTime"]
    message = "Successfully published connection details"
    await until_event_recorded(s, xr, "Normal", "PublishConnectionSecret", message)


async def test_a_definition_that_names_no_keys_lets_all_out(s):
    things = await Things.defined(s, "LegacyCluster")
    await things.compose(holding(s, user="root", host="db"))
    await things.apply(s.id, to(s))
    await s.until(SECRET, "out", lambda secret: secret["data"] == encoded(user="root", host="db"))


async def test_the_composition_may_choose_the_namespace_of_secrets(s):
    things = await Things.defined(s, "LegacyCluster")
    await things.compose(holding(s, user="root"))
    await s.client.patch_merge(
        COMPOSITION, s.id, {"spec": {"writeConnectionSecretsToNamespace": s.id}}, manager="test"
    )
    await things.apply(s.id)
    xr = await things.until(s.id, lambda xr: "writeConnectionSecretToRef" in xr["spec"])
    ref = xr["spec"]["writeConnectionSecretToRef"]
    assert ref == {"name": xr["metadata"]["uid"], "namespace": s.id}
    await s.until(SECRET, ref["name"], lambda secret: secret["data"] == encoded(user="root"))


async def test_published_keys_are_never_removed(s):
    things = await Things.defined(s, "LegacyCluster")
    await things.compose(holding(s, user="root"))
    await things.apply(s.id, to(s))
    await s.until(SECRET, "out", lambda secret: secret["data"] == encoded(user="root"))
    await things.compose(holding(s, host="db"))
    await s.until(SECRET, "out", lambda secret: secret["data"] == encoded(user="root", host="db"))


async def test_a_changed_or_deleted_published_secret_is_restored(s):
    things = await Things.defined(s, "LegacyCluster")
    await things.compose(holding(s, user="root"))
    await things.apply(s.id, to(s))
    before = await s.until(SECRET, "out", lambda secret: secret["data"] == encoded(user="root"))
    await things.until(s.id, READY)
    await s.client.patch_merge(SECRET, "out", {"data": encoded(user="evil")}, s.id)
    await s.until(SECRET, "out", lambda secret: secret["data"] == encoded(user="root"))
    await s.client.delete(SECRET, "out", s.id)
    await s.until(
        SECRET,
        "out",
        lambda secret: (
            secret["metadata"]["uid"] != before["metadata"]["uid"] and secret["data"] == encoded(user="root")
        ),
    )


async def test_a_foreign_secret_is_refused(s):
    things = await Things.defined(s, "LegacyCluster")
    secret_body = {"metadata": {"name": "out", "namespace": s.id}, "type": "Opaque", "data": encoded(a="b")}
    await s.client.create(SECRET, secret_body)
    await things.compose(holding(s, user="root"))
    await things.apply(s.id, to(s))
    await things.until(
        s.id,
        failing("cannot publish connection details: cannot create or update connection secret: refusing"),
    )
    assert (await s.client.get(SECRET, "out", s.id))["data"] == encoded(a="b")
    await s.client.delete(SECRET, "out", s.id)
    await s.until(SECRET, "out", lambda secret: secret["data"] == encoded(user="root"))


async def test_details_come_from_the_secrets_of_composed_resources(s):
    """And follow them: the secret of a composed resource is part of what functions see."""

    things = await Things.defined(s, "LegacyCluster")
    await custom_kind(s)
    ref = {"writeConnectionSecretToRef": {"name": "bucket-secret", "namespace": s.id}}
    base = {
        "apiVersion": f"{s.group}/v1",
        "kind": "Bucket",
        "metadata": {"namespace": s.id},
        "spec": ref,
    }
    details = [{"name": "key", "type": "FromConnectionSecretKey", "fromConnectionSecretKey": "access"}]
    await things.compose(resources(entry("one", base=base, connectionDetails=details)))
    await things.apply(s.id, to(s))
    await things.until(s.id, SYNCED)
    body = {"metadata": {"name": "bucket-secret", "namespace": s.id}, "data": encoded(access="first")}
    await s.client.create(SECRET, body)
    await s.until(SECRET, "out", lambda secret: secret.get("data") == encoded(key="first"))
    await s.client.patch_merge(SECRET, "bucket-secret", {"data": encoded(access="second")}, s.id)
    await s.until(SECRET, "out", lambda secret: secret["data"] == encoded(key="second"))


async def test_a_modern_xr_composes_its_secret(s):
    """Connection details of a modern XR are not published; patch-and-transform composes a Secret instead."""

    things = await Things.defined(s)
    step = resources(entry("one", connectionDetails=[{"name": "user", "type": "FromValue", "value": "root"}]))
    step["input"]["writeConnectionSecretToRef"] = {"name": "out"}
    await things.compose(step)
    await things.apply("mine")
    xr = await things.until("mine", SYNCED, READY, lambda xr: len(things.references(xr)) == 2)
    secret = await s.client.get(SECRET, "out", s.id)
    assert secret["data"] == encoded(user="root")
    assert secret["metadata"]["ownerReferences"][0]["uid"] == xr["metadata"]["uid"]
    assert "connectionDetails" not in xr["status"]
