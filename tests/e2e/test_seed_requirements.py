"""The first design (seed 1): requirements, and the infrastructure that they are bound to."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.e2e.first_design import (
    PUBLICATION,
    READY,
    complete_design,
    engine,
    sql_name,
    synced_false,
    text,
)
from tests.support.e2e.scenario import CRD, SECRET, condition

pytestmark = pytest.mark.xdist_group("e2e")

WAITING = condition("Ready", "False", "Waiting")


async def test_a_requirement_gets_infrastructure_and_a_copy_of_its_secret(s):
    design = await complete_design(s, writeConnectionSecretsToNamespace=s.id)
    await design.require(writeConnectionSecretToRef={"name": "sql"})
    sql = await design.bound()
    assert engine(sql)["requirementRef"]["name"] == "mine"
    assert engine(sql)["writeConnectionSecretToRef"] == {
        "name": sql["metadata"]["uid"],
        "namespace": s.id,
    }
    await s.until(design.requirements, "mine", WAITING)
    server = await s.until(
        design.servers,
        engine(sql)["composedRefs"][0]["name"],
        lambda obj: obj["spec"].get("storageMB"),
    )
    assert server["spec"]["storageMB"] == 10240
    await design.provide(sql)
    requirement = await s.until(design.requirements, "mine", READY)
    assert engine(requirement)["compositionRef"]["name"] == f"{s.id}-sqls"
    secret = await s.until(SECRET, "sql", lambda secret: secret.get("data"))
    # Only what the definition names, under its names.
    assert set(secret["data"]) == {"username", "endpoint"}
    assert (text(secret, "username"), text(secret, "endpoint")) == ("root", "here")


async def test_a_change_of_a_requirement_reaches_the_composed_resources(s):
    design = await complete_design(s)
    await design.require()
    sql = await design.bound()
    await design.apply(design.requirements, "mine", {"region": "west", "storageGB": 20}, s.id)
    name = engine(sql)["composedRefs"][0]["name"]
    await s.until(design.servers, name, lambda server: server["spec"]["storageMB"] == 20480)


async def test_infrastructure_goes_with_its_requirement_or_is_retained_for_the_next(s):
    design = await complete_design(s, reclaimPolicy="Retain")
    await design.compose_sql(f"{s.id}-gone", reclaimPolicy="Delete")
    await design.require("kept", compositionRef={"name": f"{s.id}-sqls"})
    await design.require("gone", compositionRef={"name": f"{s.id}-gone"})
    remaining, deleted = await design.bound("kept"), await design.bound("gone")
    assert engine(remaining)["reclaimPolicy"] == "Retain"
    for name in ("kept", "gone"):
        await s.client.delete(design.requirements, name, s.id)
        await s.until_gone(design.requirements, name)
    await s.until_gone(design.sqls, deleted["metadata"]["name"])
    free = await s.until(
        design.sqls, remaining["metadata"]["name"], lambda sql: "requirementRef" not in engine(sql)
    )
    # What is retained can be bound by naming it.
    name = free["metadata"]["name"]
    ref = {"apiVersion": design.sqls.api_version, "kind": "Sql", "name": name}
    await design.require("next", resourceRef=ref)
    await s.until(design.sqls, name, lambda sql: engine(sql).get("requirementRef", {}).get("name") == "next")
    assert sql_name(await s.until(design.requirements, "next", WAITING)) == name


async def test_infrastructure_that_another_requirement_has_is_left_alone(s):
    design = await complete_design(s)
    await design.require("mine")
    sql = await design.bound("mine")
    ref = {
        "apiVersion": design.sqls.api_version,
        "kind": "Sql",
        "name": sql["metadata"]["name"],
    }
    await design.require("thief", resourceRef=ref)
    await s.until(design.requirements, "thief", synced_false("refusing to operate", "mine"))


async def test_of_many_requirements_that_name_free_infrastructure_one_gets_it(s):
    design = await complete_design(s)
    await design.apply(design.sqls, s.id, {"region": "us-west", "storageGB": 1})
    ref = {"apiVersion": design.sqls.api_version, "kind": "Sql", "name": s.id}
    names = [f"racer-{number}" for number in range(8)]
    await asyncio.gather(*(design.require(name, resourceRef=ref) for name in names))
    sql = await s.until(design.sqls, s.id, lambda sql: engine(sql).get("requirementRef"))
    winner = engine(sql)["requirementRef"]["name"]
    bound_message = f'bound to claim "{winner}" in namespace "{s.id}"'
    for name in names:
        if name != winner:
            loser = await s.until(
                design.requirements, name, synced_false("refusing to operate", bound_message)
            )
            events = {message for _, _, message in await s.events(loser)}
            assert "Successfully bound composite resource" not in events
    await s.until(design.requirements, winner, condition("Synced", "True"))


async def test_a_field_that_is_added_to_infrastructure_can_be_required(s):
    design = await complete_design(s)
    template = design.template(design.sqls, region="string", storageGB="int", tier="string")
    await design.define_sql(crdSpecTemplate=template)
    await s.until(CRD, design.requirements.resource, lambda crd: "tier" in fields_of(crd))
    # A server may use the old schema for a short time.
    for size in range(100):
        spec = {"tier": "gold", "storageGB": size}
        await design.apply(design.requirements, "mine", spec, s.id)
        sql = await design.bound()
        if "tier" in sql["spec"]:
            break
        await asyncio.sleep(0.1)
    assert sql["spec"]["tier"] == "gold"


def fields_of(crd):
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


@pytest.mark.embedded_only("kube-controller-manager writes too, and then some of ours are tried twice")
async def test_binding_takes_few_writes_and_settled_infrastructure_none(s):
    design = await complete_design(s)
    await design.require(writeConnectionSecretToRef={"name": "sql"})
    await design.provide(await design.bound())
    await s.until(design.requirements, "mine", READY)
    await s.until(SECRET, "sql", lambda secret: secret.get("data"))
    # The user's requirement and two writes to each object of the chain, its status apart.
    assert await s.writes() <= 12
    settled = await s.settled_writes()
    # Neither concerns us: a reconcile has nothing to write.
    ignored = {"metadata": {"annotations": {"k8s.io/x": "1"}}}
    await s.client.patch_merge(design.requirements, "mine", ignored, s.id)
    await s.client.patch_merge(PUBLICATION, design.sqls.resource, ignored)
    assert await s.settled_writes(more_than=settled) == settled + 1, await s.write_counts()
