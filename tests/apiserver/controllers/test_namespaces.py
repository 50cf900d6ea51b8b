"""A namespace is emptied, finalized and removed, and has what every namespace has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from crossply.apiserver.admission.chain import Admission
from crossply.apiserver.controllers.namespace.controller import Remains, conditions_after
from crossply.apiserver.controllers.namespace.delete_and_finalize_endpoints import finalize
from crossply.apiserver.endpoints.status_errors import StatusError
from tests.support.apiserver.store_bench import bench, running


def without_finalizers(old: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in old["metadata"].items() if key != "finalizers"}
    return {**old, "metadata": metadata}


async def test_the_namespaces_of_every_cluster_exist_from_the_start() -> None:
    async with running(root_ca="CERT") as (client, _):
        assert client.names("namespaces") == ["default", "kube-node-lease", "kube-public", "kube-system"]
        default = client.get("namespaces", "", "default")
        assert default is not None
        assert default["metadata"]["labels"] == {"kubernetes.io/metadata.name": "default"}
        assert default["status"] == {"phase": "Active"}


async def test_every_namespace_has_a_service_account_and_the_root_certificate() -> None:
    async with running(root_ca="CERT") as (client, controllers):
        await client.create("namespaces", "", "team")
        await controllers.settled()
        assert client.names("serviceaccounts", "team") == ["default"]
        published = client.get("configmaps", "team", "kube-root-ca.crt")
        assert published is not None
        assert published["data"] == {"ca.crt": "CERT"}


async def test_the_contents_of_a_namespace_come_back() -> None:
    async with running(root_ca="CERT") as (client, controllers):
        await client.delete("serviceaccounts", "default", "default")
        await client.update(
            "configmaps", "default", "kube-root-ca.crt", lambda old: {**old, "data": {"ca.crt": "other"}}
        )
        await controllers.settled()
        assert client.names("serviceaccounts", "default") == ["default"]
        published = client.get("configmaps", "default", "kube-root-ca.crt")
        assert published is not None
        assert published["data"] == {"ca.crt": "CERT"}


async def test_a_deleted_namespace_goes_with_all_that_is_in_it() -> None:
    async with running(root_ca="CERT") as (client, controllers):
        client.context.admission = Admission(client.context)
        await client.create("namespaces", "", "team")
        await client.create("widgets", "team", "one")
        await client.create("secrets", "team", "two")
        await client.create("widgets", "default", "stays")
        answer, deleted = await client.delete("namespaces", "", "team")
        assert not deleted
        assert answer["status"]["phase"] == "Terminating"
        assert answer["metadata"]["deletionTimestamp"]
        await controllers.settled()
        assert client.get("namespaces", "", "team") is None
        assert client.names("widgets", "team") == []
        assert client.names("serviceaccounts", "team") == []
        assert client.names("widgets") == ["stays"]


async def test_a_namespace_waits_for_the_finalizers_of_its_content_and_reports_it() -> None:
    async with running() as (client, controllers):
        await client.create("namespaces", "", "team")
        for name in ("one", "two"):
            await client.create("widgets", "team", name, metadata={"finalizers": ["example.org/hold"]})
        await client.delete("namespaces", "", "team")
        await controllers.settled()
        namespace = client.get("namespaces", "", "team")
        assert namespace is not None
        status = {
            item["type"]: (item["status"], item["message"]) for item in namespace["status"]["conditions"]
        }
        assert status == {
            "NamespaceDeletionDiscoveryFailure": ("False", "All resources successfully discovered"),
            "NamespaceDeletionGroupVersionParsingFailure": (
                "False",
                "All legacy kube types successfully parsed",
            ),
            "NamespaceDeletionContentFailure": (
                "False",
                "All content successfully deleted, may be waiting on finalization",
            ),
            "NamespaceContentRemaining": (
                "True",
                "Some resources are remaining: widgets.example.org has 2 resource instances",
            ),
            "NamespaceFinalizersRemaining": (
                "True",
                "Some content in the namespace has finalizers remaining: example.org/hold in 2 resource "
                "instances",
            ),
        }
        await client.update("widgets", "team", "one", without_finalizers)
        await client.update("widgets", "team", "two", without_finalizers)
        await controllers.settled()
        assert client.get("namespaces", "", "team") is None


async def test_deleting_a_terminating_namespace_twice_changes_nothing() -> None:
    async with bench() as client:
        await client.create("namespaces", "", "team")
        first, _ = await client.delete("namespaces", "", "team")
        second, deleted = await client.delete("namespaces", "", "team")
        assert (second, deleted) == (first, False)


async def test_a_namespace_with_finalizers_of_others_stays_until_they_are_gone() -> None:
    async with running() as (client, controllers):
        spec = {"finalizers": ["kubernetes", "example.org/hold"]}
        await client.create("namespaces", "", "team", spec=spec)
        await client.delete("namespaces", "", "team")
        await controllers.settled()
        namespace = client.get("namespaces", "", "team")
        assert namespace is not None
        assert namespace["spec"]["finalizers"] == ["example.org/hold"]
        body = orjson.dumps({**namespace, "spec": {}})
        call = client.call("namespaces", "team", "team", "update", subresource="finalize", body=body)
        reply = await finalize(client.context, call)
        assert reply.status == 200
        assert client.get("namespaces", "", "team") is None


async def test_finalize_keeps_the_status_and_the_identity() -> None:
    async with running() as (client, _):
        await client.create("namespaces", "", "team")
        body = orjson.dumps(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": "team", "uid": "other", "labels": {"a": "b"}},
                "spec": {"finalizers": ["kubernetes", "example.org/x"]},
                "status": {"phase": "Odd"},
            }
        )
        before = client.get("namespaces", "", "team")
        assert before is not None
        call = client.call("namespaces", "team", "team", "update", subresource="finalize", body=body)
        await finalize(client.context, call)
        after = client.get("namespaces", "", "team")
        assert after is not None
        assert after["spec"] == {"finalizers": ["kubernetes", "example.org/x"]}
        assert after["status"] == {"phase": "Active"}
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert after["metadata"]["labels"]["a"] == "b"


async def test_finalize_refuses_another_version() -> None:
    async with running() as (client, _):
        await client.create("namespaces", "", "team")
        body = orjson.dumps({"metadata": {"name": "team", "resourceVersion": "1"}, "spec": {}})
        call = client.call("namespaces", "team", "team", "update", subresource="finalize", body=body)
        with pytest.raises(StatusError, match="the object has been modified"):
            await finalize(client.context, call)


async def test_a_namespace_whose_content_cannot_be_deleted_reports_why() -> None:
    async with running() as (client, controllers):
        await client.create("namespaces", "", "team")
        await client.create("widgets", "team", "one")

        class Refusing(Admission):
            async def validate(self, call: Any, operation: str, obj: Any, old: Any) -> None:
                if operation == "DELETE" and call.resource.names.plural == "widgets":
                    raise StatusError(403, "Forbidden", "no way")

        client.context.admission = Refusing(client.context)
        await client.delete("namespaces", "", "team")
        await controllers.settled()
        namespace = client.get("namespaces", "", "team")
        assert namespace is not None
        (failure,) = (c for c in namespace["status"]["conditions"] if "ContentFailure" in c["type"])
        assert failure["message"] == "Failed to delete all resource types, 1 remaining: no way"
        assert failure["reason"] == "ContentDeletionFailed"


async def test_termination_goes_on_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "data")
    async with bench(path) as client:
        await client.create("namespaces", "", "team")
        await client.create("widgets", "team", "one")
        await client.delete("namespaces", "", "team")
    async with running(path) as (client, controllers):
        await controllers.settled()
        assert client.get("namespaces", "", "team") is None
        assert client.names("widgets") == []


def test_a_condition_keeps_its_time_until_its_status_changes() -> None:
    first = conditions_after([], Remains(), "t1")
    remains = Remains()
    remains.add("widgets", "example.org", [])
    second = conditions_after(first, remains, "t2")
    times = {item["type"]: item["lastTransitionTime"] for item in second}
    assert times["NamespaceContentRemaining"] == "t2"
    assert times["NamespaceFinalizersRemaining"] == "t1"
    assert conditions_after(second, remains, "t3") == second
