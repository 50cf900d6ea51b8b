"""Objects are created only in namespaces that exist and are not terminating."""

from __future__ import annotations

from pathlib import Path

import pytest

from crossply.apiserver.endpoints.status_errors import StatusError
from tests.support.apiserver.admission import setting


async def test_nothing_is_created_in_a_missing_namespace(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        with pytest.raises(StatusError) as caught:
            await client.create("configmaps", "nope", "one")
        assert caught.value.body() == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": 'namespaces "nope" not found',
            "reason": "NotFound",
            "details": {"name": "nope", "kind": "namespaces"},
            "code": 404,
        }


async def test_nothing_is_created_in_a_terminating_namespace(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.create("namespaces", "", "team")
        await client.create("configmaps", "team", "old")
        await client.delete("namespaces", "", "team")
        with pytest.raises(StatusError) as caught:
            await client.create("widgets", "team", "new")
        body = caught.value.body()
        assert body["code"] == 403
        assert body["message"] == (
            'widgets.example.org "new" is forbidden: unable to create new content in namespace team because '
            "it is being terminated"
        )
        assert body["details"] == {
            "name": "new",
            "group": "example.org",
            "kind": "widgets",
            "causes": [
                {
                    "reason": "NamespaceTerminating",
                    "message": "namespace team is being terminated",
                    "field": "metadata.namespace",
                }
            ],
        }
        await client.update("configmaps", "team", "old", lambda old: {**old, "data": {"a": "b"}})
        await client.delete("configmaps", "team", "old")


@pytest.mark.parametrize("name", ["default", "kube-system"])
async def test_the_namespaces_of_the_cluster_itself_cannot_be_deleted(tmp_path: Path, name: str) -> None:
    async with setting(tmp_path) as client:
        with pytest.raises(StatusError, match=f'namespaces "{name}" is forbidden: this namespace may not be'):
            await client.delete("namespaces", "", name)


async def test_a_namespace_that_starts_terminating_during_webhooks_refuses_the_create(
    tmp_path: Path,
) -> None:
    async with setting(tmp_path) as client:
        await client.create("namespaces", "", "team")

        async def slow(_: object) -> dict[str, bool]:
            await client.delete("namespaces", "", "team")
            return {"allowed": True}

        await client.validating("slow", client.hook("/slow", slow))
        with pytest.raises(StatusError, match="because it is being terminated"):
            await client.create("widgets", "team", "new")


async def test_cluster_scoped_objects_need_no_namespace(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        assert await client.create("clusters", "", "one")
