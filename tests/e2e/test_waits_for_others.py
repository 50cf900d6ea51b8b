"""An object that waits for a release is enqueued by it: the controllers here retry only after an hour.

A wait without a watch therefore never ends within the timeout of a test.
"""

from __future__ import annotations

import base64

import pytest

from crossply.control.kinds import WATCH_OPERATION
from tests.support.e2e.first_design import OFFERED, PUBLICATION, FirstDesign
from tests.support.e2e.in_process import scenario_with
from tests.support.e2e.scenario import (
    CRD,
    DEFINITION,
    SECRET,
    condition,
)
from tests.support.e2e.things import (
    READY,
    SYNCED,
    Things,
    custom_kind,
    failing,
)
from tests.support.e2e.waits import OPTIONS, one_config_map

pytestmark = pytest.mark.xdist_group("e2e-waits")


@pytest.fixture
async def s(own_server):
    async with scenario_with(own_server, OPTIONS) as scenario:
        yield scenario


# Connection secrets


def secret_of_somebody(namespace, name):
    """A Secret with another owner."""
    return {"metadata": {"name": name, "namespace": namespace}, "type": "Opaque"}


async def publishing(s):
    """Claims that publish a connection secret."""
    await s.offer()
    await s.compose(
        s.config_map(connectionDetails=[{"name": "user", "type": "FromValue", "value": "root"}]),
        writeConnectionSecretsToNamespace=s.id,
    )


def has_user(secret):
    return base64.b64decode((secret.get("data") or {}).get("user", "")) == b"root"


async def test_the_secret_of_an_xr_is_written_once_a_foreign_one_is_gone(s):
    await publishing(s)
    await s.client.create(SECRET, secret_of_somebody(s.id, "mine"))
    ref = {"name": "mine", "namespace": s.id}
    body = {"apiVersion": s.api_version, "kind": s.xrs.kind, "metadata": {"name": s.id}}
    await s.client.apply(s.xrs, {**body, "spec": {"writeConnectionSecretToRef": ref}}, "test")
    await s.until(s.xrs, s.id, failing("refusing to modify uncontrolled secret"))
    await s.client.delete(SECRET, "mine", s.id)
    await s.until(SECRET, "mine", has_user)


async def test_the_secret_of_a_claim_is_written_once_a_foreign_one_is_gone(s):
    await publishing(s)
    await s.client.create(SECRET, secret_of_somebody(s.id, "mine"))
    await s.claim("mine", {"writeConnectionSecretToRef": {"name": "mine"}})
    await s.claim_that_is("mine", failing("refusing to modify uncontrolled secret"))
    await s.client.delete(SECRET, "mine", s.id)
    await s.until(SECRET, "mine", has_user)
    await s.claim_that_is("mine", READY)


# Claims, requirements and what they bind


async def test_a_claim_binds_a_composite_that_another_claim_releases(s):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("first")
    first = await s.claim_that_is("first", READY)
    ref = first["spec"]["resourceRef"]
    await s.claim("second", {"resourceRef": ref, "size": "9"})
    await s.claim_that_is("second", failing("that is not bound to this claim"))
    await s.client.delete(s.claims, "first", s.id)
    await s.claim_that_is("second", READY)
    xr = await s.until(s.xrs, ref["name"], lambda xr: xr["spec"].get("size") == "9")
    assert xr["spec"]["claimRef"]["name"] == "second"


async def test_a_requirement_binds_a_composite_that_another_one_leaves_behind(s):
    design = FirstDesign(s)
    await design.serve_servers()
    await design.define_sql()
    await design.publish()
    await design.compose_sql(reclaimPolicy="Retain")
    await design.require("first")
    sql = await design.bound("first")
    ref = {"apiVersion": design.sqls.api_version, "kind": "Sql", "name": sql["metadata"]["name"]}
    await design.require("second", resourceRef=ref)
    await s.until(design.requirements, "second", failing("that is not bound to this claim"))
    await s.client.delete(design.requirements, "first", s.id)
    await s.until(design.requirements, "second", SYNCED)
    bound = await s.until(
        design.sqls,
        ref["name"],
        lambda sql: sql["spec"]["infrastructure"].get("requirementRef", {}).get("name") == "second",
    )
    assert bound["metadata"]["uid"] == sql["metadata"]["uid"]


# Definitions


async def test_a_definition_takes_a_name_that_another_crd_gave_up(s):
    things = Things(s)
    foreign = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "controller": True}
    await s.client.apply(CRD, foreign_crd(things.kind, foreign), "somebody")
    xrd = await things.define()
    await until_event(s, xrd, "cannot apply rendered composite resource CustomResourceDefinition")
    await s.client.delete(CRD, things.kind.resource)
    await things.established()


async def test_a_definition_offers_a_claim_whose_name_another_crd_gave_up(s):
    foreign = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "controller": True}
    await s.client.apply(CRD, foreign_crd(s.claims, foreign), "somebody")
    things = Things(s, scope="LegacyCluster")
    names = {"kind": s.claims.kind, "plural": s.claims.plural}
    xrd = await things.define(claimNames=names)
    await until_event(s, xrd, "cannot apply rendered composite resource claim CustomResourceDefinition")
    await s.client.delete(CRD, s.claims.resource)
    await s.until(DEFINITION, things.kind.resource, condition("Offered", "True"))


async def test_a_publication_that_waits_for_its_definition_is_offered_at_once(s):
    design = FirstDesign(s)
    await design.serve_servers()
    reference = {"infrastructureDefinitionReference": {"name": design.sqls.resource}}
    await design.apply(PUBLICATION, design.sqls.resource, reference)
    await s.until(PUBLICATION, design.sqls.resource, condition("Offered", "False"))
    await design.define_sql()
    await s.until(PUBLICATION, design.sqls.resource, OFFERED)


# Operations


async def test_a_watched_kind_that_appears_is_watched_at_once(s):
    template = {"spec": {"mode": "Pipeline", "pipeline": [one_config_map()]}}
    watch = {"apiVersion": s.api_version, "kind": "Bucket"}
    body = {"apiVersion": WATCH_OPERATION.api_version, "kind": "WatchOperation"}
    spec = {"watch": watch, "operationTemplate": template}
    body = {**body, "metadata": {"name": s.id}, "spec": spec}
    await s.client.apply(WATCH_OPERATION, body, "test")
    await s.until(WATCH_OPERATION, s.id, condition("Watching", "False", "WatchFailed"))
    await custom_kind(s)
    await s.until(WATCH_OPERATION, s.id, condition("Watching", "True", "WatchActive"))
    await s.client.delete(WATCH_OPERATION, s.id)


def foreign_crd(kind, owner):
    """A CRD with another controller."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
    return {
        "apiVersion": CRD.api_version,
        "kind": CRD.kind,
        "metadata": {"name": kind.resource, "ownerReferences": [owner]},
        "spec": {
            "group": kind.group,
            "names": {"kind": kind.kind, "plural": kind.plural},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [version],
        },
    }


async def until_event(s, about, text):
    """Wait until an event about an object has this message."""

    async def has_event():
        return any(text in message for _, _, message in await s.events(about))

    await s.eventually(has_event)
