"""Plans of managed resources: external names, immutable fields, and the order of a deletion."""

from __future__ import annotations

import pytest

from crossply.control.usages.usage_model import USAGE
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import KubeError
from crossply.values.yaml import load
from tests.support.e2e.pipelines import entry, patch, resources
from tests.support.e2e.planned_things import settled
from tests.support.e2e.plans import node_of
from tests.support.e2e.scenario import Scenario
from tests.support.e2e.things import custom_kind

pytestmark = pytest.mark.xdist_group("e2e")
EXTERNAL_NAME = "metadata.annotations[crossplane.io/external-name]"


async def test_an_immutable_field_is_named_with_a_remedy(s: Scenario, plans):
    bucket = await custom_kind(s)
    rule = {"rule": "self == oldSelf", "message": "Value is immutable"}
    region = {"type": "string", "x-kubernetes-validations": [rule]}
    crd = await s.client.get(CRD, bucket.resource)
    versions = crd["spec"]["versions"]
    for_provider = {"type": "object", "properties": {"region": region, "size": {"type": "string"}}}
    spec = {"type": "object", "properties": {"forProvider": for_provider}}
    versions[0]["schema"]["openAPIV3Schema"] = {"type": "object", "properties": {"spec": spec}}
    await s.client.patch_merge(CRD, bucket.resource, {"spec": {"versions": versions}})

    async def is_checked():
        body = {"apiVersion": bucket.api_version, "kind": bucket.kind, "metadata": {"name": "probe"}}
        body["metadata"]["namespace"] = s.id
        try:
            await s.client.apply(bucket, {**body, "spec": {"forProvider": {"odd": "1"}}}, "test")
        except KubeError:
            return True
        return False

    await s.eventually(is_checked)
    base = {"apiVersion": bucket.api_version, "kind": bucket.kind, "spec": {"forProvider": {}}}
    template = entry("bucket", patch("spec.size", "spec.forProvider.region"), base=base)
    things = await settled(s, resources(template))
    planned = await plans.of(things.body("mine", {"size": "4"}))
    assert planned.code == 1
    node = node_of(planned, bucket.kind)
    assert node["error"] == (
        "would be refused: field spec.forProvider.region is immutable; delete and recreate it"
    )
    assert node["hint"].startswith(f"kubectl delete {bucket.resource} {node['name']} -n {s.id}")
    assert node["fields"] == [{"path": "spec.forProvider.region", "before": "3", "after": "4"}]
    assert node_of(planned, things.kind.kind)["error"]


async def test_a_changed_external_name_leaves_something_behind(s: Scenario, plans):
    bucket = await custom_kind(s)
    base = {"apiVersion": bucket.api_version, "kind": bucket.kind, "spec": {"forProvider": {}}}
    things = await settled(s, resources(entry("bucket", patch("spec.size", EXTERNAL_NAME), base=base)))
    planned = await plans.of(things.body("mine", {"size": "4"}))
    assert planned.code == 3
    [warning] = node_of(planned, bucket.kind)["warnings"]
    assert warning.startswith('external name would change from "3" to "4": ')
    gone = await plans.run("--delete", "-f", "-", "-o", "json", stdin=str(things.body("mine")))
    assert node_of(gone, bucket.kind)["notes"] == ['external resource "3" is deleted too']


async def test_a_deletion_warns_where_only_a_usage_would_keep_the_order(s: Scenario, plans):
    role, grant = await custom_kind(s, "Role"), await custom_kind(s, "Grant")
    roles = {"apiVersion": role.api_version, "kind": role.kind, "metadata": {"name": "r"}}
    grants = {"apiVersion": grant.api_version, "kind": grant.kind, "metadata": {"name": "g"}}
    reference = {"forProvider": {"roleRef": {"name": "r"}}}
    templates = (
        entry("role", base={**roles, "spec": {"forProvider": {}}}),
        entry("grant", base={**grants, "spec": reference}),
    )
    things = await settled(s, resources(*templates))
    words = ("--delete", "-f", "-", "-o", "json")
    planned = await plans.run(*words, stdin=str(things.body("mine")))
    used = node_of(planned, "Role")
    assert used["warnings"] == [
        "may be deleted before Grant/g, which references it by spec.forProvider.roleRef: "
        "no Usage keeps the order"
    ]
    assert "kind: Usage" in used["hint"]
    text = await plans.run("--delete", "-f", "-", stdin=str(things.body("mine")))
    assert "! warning: may be deleted before Grant/g" in text.text
    usage = used["hint"].partition(":\n")[2]
    await s.client.create(USAGE, load(usage.encode()))
    planned = await plans.run(*words, stdin=str(things.body("mine")))
    assert not node_of(planned, "Role").get("warnings")
    await s.client.delete(USAGE, load(usage.encode())["metadata"]["name"], s.id)
