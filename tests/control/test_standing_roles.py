"""The roles for users, on a server where another installer may have written them before."""

from __future__ import annotations

import pytest

from crossply.control.definitions.standing_roles import install, standing_binding, standing_roles
from crossply.kube.core_kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING
from crossply.values.deepcopy import deepcopy

NAME = "crossplane:aggregate-to-view"
OTHER_RULE = {"apiGroups": ["secrets.crossplane.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]}


def own_role():
    [role] = [item for item in standing_roles() if item["metadata"]["name"] == NAME]
    return deepcopy(role)


@pytest.fixture
async def no_roles(client):
    """No role is there before a case, and none is left."""

    async def delete():
        for role in standing_roles():
            await client.delete(CLUSTER_ROLE, role["metadata"]["name"])
        await client.delete(CLUSTER_ROLE_BINDING, standing_binding()["metadata"]["name"])

    await delete()
    yield
    await delete()


async def test_a_role_of_another_installer_keeps_its_rules_and_gets_those_that_it_lacks(client, no_roles):
    role = own_role()
    lacking = role["rules"].pop()
    role["rules"].append(OTHER_RULE)
    role["metadata"]["labels"]["app"] = "crossplane"
    await client.create(CLUSTER_ROLE, role, "helm")
    await install(client, "crossply")
    live = await client.get(CLUSTER_ROLE, NAME)
    assert live["rules"] == [*role["rules"], lacking]
    assert live["metadata"]["labels"]["app"] == "crossplane"
    await install(client, "crossply")
    assert await client.get(CLUSTER_ROLE, NAME) == live, "the next start writes nothing"


async def test_a_rule_that_grants_more_is_enough(client, no_roles):
    role = own_role()
    role["rules"] = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    created = await client.create(CLUSTER_ROLE, role, "helm")
    await install(client, "crossply")
    assert (await client.get(CLUSTER_ROLE, NAME))["rules"] == created["rules"]


async def test_a_bound_subject_stays_bound(client, no_roles):
    binding = standing_binding()
    somebody = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "operators"}
    await client.create(CLUSTER_ROLE_BINDING, {**binding, "subjects": [somebody]}, "helm")
    await install(client, "crossply")
    live = await client.get(CLUSTER_ROLE_BINDING, binding["metadata"]["name"])
    assert live["subjects"] == [somebody, *binding["subjects"]]


async def test_roles_that_only_we_wrote_have_our_rules(client, no_roles):
    older = own_role()
    older["rules"].append(OTHER_RULE)
    await client.apply(CLUSTER_ROLE, older, "crossply")
    await install(client, "crossply")
    assert (await client.get(CLUSTER_ROLE, NAME))["rules"] == own_role()["rules"]
