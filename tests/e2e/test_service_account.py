"""Composing on behalf of a service account (seed 1): RBAC limits what a kind can be made of."""

from __future__ import annotations

import asyncio

import pytest

from crossply.compose.function_messages import Response
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.chart_installation import let_impersonate
from tests.support.e2e.advice import run_advised_commands
from tests.support.e2e.first_design import READY, FirstDesign
from tests.support.e2e.pipelines import SIZE, calling, entry, patch, resources, served
from tests.support.e2e.scenario import CONFIG_MAP, NAMESPACE, SECRET, condition
from tests.support.e2e.things import READY as THINGS_READY
from tests.support.e2e.things import RESOURCE_NAME, SYNCED, Things, custom_kind
from tests.support.e2e.traffic import quiet_seconds, traffic

pytestmark = pytest.mark.xdist_group("e2e")

ACCOUNT = Kind("", "v1", "ServiceAccount", "serviceaccounts", True)
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
CLUSTER_BINDING = Kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", False)
ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles", True)
ROLE_BINDING = Kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", True)


def failure_message(obj: Object, type_: str = "Synced") -> str:
    conditions = (
        status_condition
        for status_condition in (obj.get("status") or {}).get("conditions") or ()
        if status_condition["type"] == type_
    )
    return "".join(
        status_condition.get("message", "")
        for status_condition in conditions
        if status_condition["status"] == "False"
    )


async def account(s, name: str) -> None:
    """A service account that the controllers may impersonate, as the chart lets them."""
    await s.client.create(ACCOUNT, {"metadata": {"name": name, "namespace": s.id}})
    await let_impersonate(s.client, s.id, name)


async def test_an_application_is_composed_of_no_more_than_its_account_may_write(s):
    design = FirstDesign(s)
    await account(s, "blog")
    await design.define_blog(serviceAccountRef={"namespace": s.id, "name": "blog"})
    base = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}
    await design.compose(design.blogs, to=[{"base": base, "readinessChecks": [{"type": "None"}]}])
    await design.apply(design.blogs, "mine", {"title": "hello"}, s.id)
    blog = await s.until(design.blogs, "mine", lambda blog: "kubectl" in failure_message(blog))
    message = failure_message(blog)
    assert f"service account {s.id}/blog may not" in message
    assert f"configmaps in namespace {s.id}" in message
    await run_advised_commands(s, message)
    blog = await s.until(design.blogs, "mine", READY)
    [reference] = blog["spec"]["application"]["composedRefs"]
    assert await s.client.get(CONFIG_MAP, reference["name"], s.id)


async def test_a_composite_resource_definition_may_name_an_account_too(s):
    await account(s, "db")
    await s.offer(serviceAccountRef={"namespace": s.id, "name": "db"})
    await s.compose(s.config_map())
    await s.claim("mine", {"size": "1"})
    claim = await s.claim_that_is("mine", condition("Synced", "True"))
    name = claim["spec"]["resourceRef"]["name"]
    xr = await s.until(s.xrs, name, lambda xr: "kubectl" in failure_message(xr))
    await run_advised_commands(s, failure_message(xr))
    await s.claim_that_is("mine", condition("Ready", "True"))


async def test_a_secret_that_the_account_may_not_read_is_not_passed_on(s):
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
    xr = await s.until(s.xrs, name, lambda xr: "may not get secrets" in failure_message(xr))
    assert "resourceRefs" not in xr["spec"] or not xr["spec"]["resourceRefs"]


async def allow(s, name: str, *verbs: str) -> None:
    """Give an account these rights to ConfigMaps, and no others."""
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": list(verbs)}
    metadata = {"name": f"{name}-composes", "namespace": s.id}
    subject = {"kind": "ServiceAccount", "namespace": s.id, "name": name}
    reference = {"apiGroup": ROLE.group, "kind": "Role", "name": metadata["name"]}
    for kind, body in (
        (ROLE, {"rules": [rule]}),
        (ROLE_BINDING, {"roleRef": reference, "subjects": [subject]}),
    ):
        obj = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **body}
        await s.client.apply(kind, obj, "test")


async def test_objects_the_account_may_not_read_reach_neither_functions_nor_the_status(s):
    """The controllers may read every ConfigMap, and watch them: the account's rights count all the same."""
    texts: list[str] = []

    def function(request):
        texts.extend(str(resource.object.get("data")) for resource in request.observed.resources.values())
        return request_answered(request)

    async def scenario(s, address):
        await account(s, "thing")
        await allow(s, "thing", "get", "create", "patch", "delete")
        things = await Things.defined(s, serviceAccountRef={"namespace": s.id, "name": "thing"})
        await things.compose(
            resources(entry("one", SIZE, patch("data.note", "status.mode", "ToCompositeFieldPath"))),
            await calling(s, address),
        )
        await things.apply("mine", {"size": "1"})
        xr = await things.until("mine", SYNCED, THINGS_READY)
        [reference] = xr["spec"]["crossplane"]["resourceRefs"]
        await s.client.patch_merge(CONFIG_MAP, reference["name"], {"data": {"note": "shown"}}, s.id)
        await things.until("mine", lambda xr: xr["status"].get("mode") == "shown")
        await allow(s, "thing", "create", "patch", "delete")
        await s.client.patch_merge(CONFIG_MAP, reference["name"], {"data": {"note": "hidden"}}, s.id)
        xr = await things.until("mine", lambda xr: "kubectl" in failure_message(xr))
        assert f"service account {s.id}/thing may not get configmaps in namespace {s.id}" in failure_message(
            xr
        )
        assert xr["status"]["mode"] == "shown"
        assert [text for text in texts if "hidden" in text] == []
        await run_advised_commands(s, failure_message(xr))
        await things.until("mine", SYNCED, lambda xr: xr["status"].get("mode") == "hidden")
        assert [text for text in texts if "hidden" in text]

    with served(function) as address:
        await scenario(s, address)


async def test_an_object_that_the_account_may_not_read_is_not_observed_by_a_reference_to_it(s):
    """A user who may write composite resources chooses their references."""

    await account(s, "thing")
    other = f"{s.id}-private"
    await s.client.create(NAMESPACE, {"metadata": {"name": other}})
    labels, annotations = {"crossplane.io/composite": "mine"}, {RESOURCE_NAME: "one"}
    metadata = {"name": "private", "namespace": other, "labels": labels, "annotations": annotations}
    await s.client.create(CONFIG_MAP, {"metadata": metadata, "data": {"note": "hidden"}})
    await allow(s, "thing", "get", "create", "patch", "delete")
    things = await Things.defined(s, scope="Cluster", serviceAccountRef={"namespace": s.id, "name": "thing"})
    base = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": s.id}}
    await things.compose(
        resources(entry("one", patch("data.note", "status.mode", "ToCompositeFieldPath"), base=base))
    )
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "private", "namespace": other}
    await things.apply("mine", {"crossplane": {"resourceRefs": [reference]}})
    xr = await things.until("mine", lambda xr: "kubectl" in failure_message(xr))
    assert f"service account {s.id}/thing may not get configmaps in namespace {other}" in failure_message(xr)
    assert "mode" not in xr["status"]


async def test_composing_for_an_account_comes_to_rest(s, request):
    """No write, no read and no call of a function once all is in place; watches go on."""
    calls: list[object] = []

    def function(message):
        calls.append(message)
        return request_answered(message)

    with served(function) as address:
        await custom_kind(s)
        await account(s, "thing")
        rule = {"apiGroups": [s.group], "resources": ["buckets"], "verbs": ["get", "create", "patch"]}
        metadata = {"name": f"{s.id}-thing"}
        role = {"apiVersion": CLUSTER_ROLE.api_version, "kind": CLUSTER_ROLE.kind}
        await s.client.apply(CLUSTER_ROLE, {**role, "metadata": metadata, "rules": [rule]}, "test")
        subject = {"kind": "ServiceAccount", "namespace": s.id, "name": "thing"}
        reference = {"apiGroup": ROLE.group, "kind": "ClusterRole", "name": metadata["name"]}
        binding = {"metadata": metadata, "roleRef": reference, "subjects": [subject]}
        await s.client.create(CLUSTER_BINDING, binding)
        things = await Things.defined(s, serviceAccountRef={"namespace": s.id, "name": "thing"})
        base = {"apiVersion": f"{s.group}/v1", "kind": "Bucket", "spec": {}}
        await things.compose(
            resources(entry("one", patch("spec.size", "spec.size"), base=base)), await calling(s, address)
        )
        await things.apply("mine", {"size": "1"})
        await things.until("mine", SYNCED, THINGS_READY)
        while await requests_in(s, quiet_seconds(request.config)):
            pass
        called = len(calls)
        assert await requests_in(s, 5.0) == {}
        assert len(calls) == called


async def requests_in(s, seconds: float) -> Object:
    """The requests for this scenario's kinds meanwhile."""
    before = await traffic(s.client)
    await asyncio.sleep(seconds)
    return {key: number for key, number in (await traffic(s.client) - before).items() if key[1] == s.group}


def request_answered(request):
    """A function that changes nothing."""
    return Response(desired=request.desired)


async def test_an_account_cannot_compose_more_rights_than_it_has(s):
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
    await s.until(design.sqls, "mine", lambda sql: "not currently held" in failure_message(sql))
    assert await s.client.get(CLUSTER_BINDING, f"{s.id}-all") is None
