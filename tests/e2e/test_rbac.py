"""Roles for new kinds (reference: packages §7): editors of the control plane may use defined kinds."""

from __future__ import annotations

import asyncio
import time

import pytest

from crossply.kube.failures import Forbidden
from crossply.kube.kind import Kind
from tests.support.e2e.scenario import DEFINITION
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.xdist_group("e2e")

CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
BINDING = Kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", False)
HEAD = {"apiVersion": DEFINITION.api_version, "kind": DEFINITION.kind}


async def bind(s, user, role):
    subject = {"apiGroup": CLUSTER_ROLE.group, "kind": "User", "name": user}
    reference = {"apiGroup": CLUSTER_ROLE.group, "kind": "ClusterRole", "name": role}
    body = {"metadata": {"name": user}, "roleRef": reference, "subjects": [subject]}
    await s.client.create(BINDING, body)


async def until_allowed(attempt):
    """Roles are aggregated shortly after they were written."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return await attempt()
        except Forbidden:
            assert time.monotonic() < end
            await asyncio.sleep(0.1)


async def test_an_editor_may_use_a_kind_as_soon_as_it_is_defined_and_a_viewer_may_look(s):
    editor, viewer = f"editor-{s.id}", f"viewer-{s.id}"
    await bind(s, editor, "crossplane-edit")
    await bind(s, viewer, "crossplane-view")
    await s.offer()
    claim = {"metadata": {"name": "mine", "namespace": s.id}, "spec": {"size": "1"}}
    body = {"apiVersion": s.api_version, "kind": s.claims.kind, **claim}
    await until_allowed(lambda: s.client.acting_as(editor).create(s.claims, body))
    assert await until_allowed(lambda: s.client.acting_as(viewer).get(s.claims, "mine", s.id))
    with pytest.raises(Forbidden):
        await s.client.acting_as(viewer).delete(s.claims, "mine", s.id)


async def test_the_roles_of_a_definition_are_written_once_restored_and_go_with_it(s):
    await s.offer()
    name = f"crossplane:composite:{s.xrs.resource}:aggregate-to-edit"
    role = await s.until(CLUSTER_ROLE, name, lambda role: True)
    await s.client.apply(
        DEFINITION, {**HEAD, "metadata": {"name": s.xrs.resource, "labels": {"seen": "yes"}}}, "other"
    )
    await s.until(DEFINITION, s.xrs.resource, lambda xrd: xrd["metadata"]["labels"]["seen"] == "yes")
    assert await s.client.get(CLUSTER_ROLE, name) == role
    await s.client.delete(CLUSTER_ROLE, name)
    recreated = await s.until(CLUSTER_ROLE, name, lambda obj: obj["metadata"]["uid"] != uid_of(role))
    assert recreated["rules"] == role["rules"]
    await s.client.delete(DEFINITION, s.xrs.resource)
    await s.until_gone(CLUSTER_ROLE, name)


def uid_of(obj):
    return obj["metadata"]["uid"]
