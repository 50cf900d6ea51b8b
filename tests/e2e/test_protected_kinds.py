"""Definitions and packages cannot take the kinds of the API server, the control plane, or anybody else."""

from __future__ import annotations

import pytest

from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.e2e.scenario import CRD, DEFINITION, Scenario, condition
from tests.support.e2e.things import Things, custom_kind

pytestmark = pytest.mark.xdist_group("e2e")

PRIORITY_CLASS = Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", False)
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
CONFIGURATION = Kind("pkg.crossplane.io", "v1", "Configuration", "configurations", False)
REFUSED = condition("Established", "False", "ProtectedKind")
APPROVED = {"annotations": {"api-approved.kubernetes.io": "unapproved, a test"}}


def message(obj: Object, type_: str = "Established") -> str:
    return next(
        status_condition["message"]
        for status_condition in obj["status"]["conditions"]
        if status_condition["type"] == type_
    )


def things_of_kind(s: Scenario, kind: Kind) -> Things:
    things = Things(s, "Namespaced" if kind.namespaced else "Cluster")
    things.kind = kind
    return things


async def test_a_definition_of_a_built_in_kind_is_refused_and_deletes_nothing(s: Scenario):
    body = {**named(PRIORITY_CLASS, s.id), "value": 7}
    await s.client.apply(PRIORITY_CLASS, body, "test")
    things = things_of_kind(s, PRIORITY_CLASS)
    xrd = await things.define(metadata=APPROVED)
    name = xrd["metadata"]["name"]
    xrd = await s.until(DEFINITION, name, REFUSED)
    assert message(xrd) == (
        f"CustomResourceDefinition {name} is protected: "
        "the API server itself serves the API group scheduling.k8s.io"
    )
    assert await s.client.get(CRD, name) is None
    role = f"crossplane:composite:{name}:aggregate-to-edit"
    assert await s.client.get(CLUSTER_ROLE, role) is None
    await s.client.delete(DEFINITION, name)
    await s.until_gone(DEFINITION, name)
    assert "deletionTimestamp" not in (await s.client.get(PRIORITY_CLASS, s.id))["metadata"]
    await s.client.delete(PRIORITY_CLASS, s.id)


async def test_a_definition_whose_crd_was_never_established_deletes_nothing(s: Scenario):
    """The CRD of an earlier version may stand there; the API server serves its own kind by that name."""

    foreign_kind = await custom_kind(s, "Thing", namespaced=False)
    await s.client.apply(foreign_kind, {**named(foreign_kind, s.id), "spec": {}}, "test")
    # Another CRD of the same kind: its names are not accepted, and it is not established.
    things = things_of_kind(s, Kind(s.group, "v1", "Thing", "otherthings", False))
    await things.define()
    crd = await s.until(CRD, things.kind.resource, condition("NamesAccepted", "False"))
    assert not condition("Established", "True")(crd)
    await s.client.delete(DEFINITION, things.kind.resource)
    await s.until_gone(DEFINITION, things.kind.resource)
    assert "deletionTimestamp" not in (await s.client.get(foreign_kind, s.id))["metadata"]


async def test_a_definition_cannot_have_a_kind_of_the_control_plane_itself(s: Scenario):
    before = await s.client.get(CRD, CONFIGURATION.resource)
    await things_of_kind(s, CONFIGURATION).define()
    xrd = await s.until(DEFINITION, CONFIGURATION.resource, REFUSED)
    assert message(xrd).endswith("is protected: it is a kind of the control plane itself")
    await s.client.delete(DEFINITION, CONFIGURATION.resource)
    await s.until_gone(DEFINITION, CONFIGURATION.resource)
    after = await s.client.get(CRD, CONFIGURATION.resource)
    assert after["spec"] == before["spec"]
    assert "ownerReferences" not in after["metadata"]


async def test_a_claim_cannot_have_a_kind_of_another_origin(s: Scenario):
    foreign_kind = await custom_kind(s, "Item")
    before = await s.client.get(CRD, foreign_kind.resource)
    things = Things(s, "LegacyCluster")
    await things.define(claimNames={"kind": foreign_kind.kind, "plural": foreign_kind.plural})
    await things.established()
    xrd = await s.until(DEFINITION, things.kind.resource, condition("Offered", "False", "ProtectedKind"))
    assert message(xrd, "Offered") == (
        f"CustomResourceDefinition {foreign_kind.resource} exists already, and was not made for a definition"
    )
    # Users of the composite resource get no rights to the other kind.
    role = await s.client.get(CLUSTER_ROLE, f"crossplane:composite:{things.kind.resource}:aggregate-to-edit")
    assert [rule["resources"] for rule in role["rules"]] == [["things", "things/status"]]
    await s.client.delete(DEFINITION, things.kind.resource)
    await s.until_gone(DEFINITION, things.kind.resource)
    after = await s.client.get(CRD, foreign_kind.resource)
    assert (after["spec"], after["metadata"]["uid"]) == (before["spec"], before["metadata"]["uid"])


def named(kind: Kind, name: str) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
