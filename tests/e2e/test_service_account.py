"""Composing on behalf of a service account (seed 1): RBAC limits what a kind can be made of."""

from __future__ import annotations

import pytest

from crossply.kube.kind import Kind
from crossply.values import Object
from tests.deploy.installing import let_impersonate
from tests.e2e.advice import follow_advice
from tests.e2e.first_design import READY, FirstDesign
from tests.e2e.scenario import CONFIG_MAP, SECRET, condition

pytestmark = pytest.mark.xdist_group("e2e")

ACCOUNT = Kind("", "v1", "ServiceAccount", "serviceaccounts", True)
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
CLUSTER_BINDING = Kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", False)
ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles", True)


def said(obj: Object, type_: str = "Synced") -> str:
    told = (each for each in (obj.get("status") or {}).get("conditions") or () if each["type"] == type_)
    return "".join(each.get("message", "") for each in told if each["status"] == "False")


async def account(s, name: str) -> None:
    """A service account that the controllers may impersonate, as the chart lets them."""
    await s.client.create(ACCOUNT, {"metadata": {"name": name, "namespace": s.id}})
    await let_impersonate(s.client, s.id, name)


def test_an_application_is_composed_of_no_more_than_its_account_may_write(play):
    async def scenario(s):
        design = FirstDesign(s)
        await account(s, "blog")
        await design.define_blog(serviceAccountRef={"namespace": s.id, "name": "blog"})
        base = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}
        await design.compose(design.blogs, to=[{"base": base, "readinessChecks": [{"type": "None"}]}])
        await design.apply(design.blogs, "mine", {"title": "hello"}, s.id)
        blog = await s.until(design.blogs, "mine", lambda blog: "kubectl" in said(blog))
        told = said(blog)
        assert f"service account {s.id}/blog may not" in told
        assert f"configmaps in namespace {s.id}" in told
        await follow_advice(s, told)
        blog = await s.until(design.blogs, "mine", READY)
        [reference] = blog["spec"]["application"]["composedRefs"]
        assert await s.client.get(CONFIG_MAP, reference["name"], s.id)

    play(scenario)


def test_a_composite_resource_definition_may_name_an_account_too(play):
    async def scenario(s):
        await account(s, "db")
        await s.offer(serviceAccountRef={"namespace": s.id, "name": "db"})
        await s.compose(s.config_map())
        await s.claim("mine", {"size": "1"})
        claim = await s.claim_that_is("mine", condition("Synced", "True"))
        name = claim["spec"]["resourceRef"]["name"]
        xr = await s.until(s.xrs, name, lambda xr: "kubectl" in said(xr))
        await follow_advice(s, said(xr))
        await s.claim_that_is("mine", condition("Ready", "True"))

    play(scenario)


def test_a_secret_that_the_account_may_not_read_is_not_passed_on(play):
    async def scenario(s):
        await account(s, "db")
        await s.client.create(
            SECRET, {"metadata": {"name": "theirs", "namespace": s.id}, "stringData": {"password": "x"}}
        )
        await s.offer(serviceAccountRef={"namespace": s.id, "name": "db"})
        secret = {"apiVersion": "v1", "kind": "Secret", "name": "theirs", "namespace": s.id}
        step = s.config_map()
        needed = {"requirementName": "loot", **secret}
        step["requirements"] = {"requiredResources": [needed]}
        await s.compose(step)
        await s.claim("mine", {"size": "1"})
        claim = await s.claim_that_is("mine", condition("Synced", "True"))
        name = claim["spec"]["resourceRef"]["name"]
        xr = await s.until(s.xrs, name, lambda xr: "may not get secrets" in said(xr))
        assert "resourceRefs" not in xr["spec"] or not xr["spec"]["resourceRefs"]

    play(scenario)


def test_an_account_cannot_compose_more_rights_than_it_has(play):
    async def scenario(s):
        design = FirstDesign(s)
        await account(s, "sql")
        rule = {"apiGroups": [ROLE.group], "resources": ["clusterrolebindings"], "verbs": ["*"]}
        await s.client.create(CLUSTER_ROLE, {"metadata": {"name": s.id}, "rules": [rule]})
        subject = {"kind": "ServiceAccount", "namespace": s.id, "name": "sql"}
        reference = {"apiGroup": ROLE.group, "kind": "ClusterRole"}
        body = {"metadata": {"name": s.id}, "roleRef": {**reference, "name": s.id}, "subjects": [subject]}
        await s.client.create(CLUSTER_BINDING, body)
        await design.define_sql(connectionDetails=[], serviceAccountRef={"namespace": s.id, "name": "sql"})
        base = {
            "apiVersion": CLUSTER_BINDING.api_version,
            "kind": CLUSTER_BINDING.kind,
            "metadata": {"name": f"{s.id}-all"},
            "roleRef": {**reference, "name": "cluster-admin"},
            "subjects": [subject],
        }
        await design.compose(design.sqls, to=[{"base": base}])
        await design.apply(design.sqls, "mine", {})
        await s.until(design.sqls, "mine", lambda sql: "not currently held" in said(sql))
        assert await s.client.get(CLUSTER_BINDING, f"{s.id}-all") is None

    play(scenario)
