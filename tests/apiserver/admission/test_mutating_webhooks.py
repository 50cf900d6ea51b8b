"""Mutating webhooks change objects, one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.served_resources import Version
from tests.support.apiserver.admission import RULE, setting
from tests.support.apiserver.store_bench import ANYTHING, custom
from tests.support.apiserver.webhook_server import patching


def setting_label(name: str, value: str) -> Any:
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        labels = {**(request["object"]["metadata"].get("labels") or {}), name: value}
        return patching({"op": "add", "path": "/metadata/labels", "value": labels})

    return answer


def counting(request: dict[str, Any]) -> dict[str, Any]:
    count = (request["object"].get("spec") or {}).get("count", 0) + 1
    return patching({"op": "add", "path": "/spec", "value": {"count": count}})


async def test_a_webhook_changes_the_object_and_receives_the_request(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.mutating("one", client.hook("/a", setting_label("a", "1")))
        created = await client.create("widgets", "default", "one", spec={"size": 1})
        assert created["metadata"]["labels"] == {"a": "1"}
        assert client.get("widgets", "default", "one") == created
        (request,) = client.server.requests("/a")
        uid = request.pop("uid")
        assert len(uid) == 36
        observed = request.pop("object")
        (owner,) = observed["metadata"].pop("managedFields")
        assert owner["fieldsV1"] == {"f:spec": {".": {}, "f:size": {}}}, (
            "owners are known before it is called"
        )
        assert observed == {
            "apiVersion": "example.org/v1",
            "kind": "Widget",
            "metadata": {"name": "one", "namespace": "default"},
            "spec": {"size": 1},
        }
        assert request == {
            "kind": {"group": "example.org", "version": "v1", "kind": "Widget"},
            "resource": {"group": "example.org", "version": "v1", "resource": "widgets"},
            "requestKind": {"group": "example.org", "version": "v1", "kind": "Widget"},
            "requestResource": {"group": "example.org", "version": "v1", "resource": "widgets"},
            "name": "one",
            "namespace": "default",
            "operation": "CREATE",
            "userInfo": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
            "oldObject": None,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "tests"},
        }


async def test_webhooks_see_the_changes_of_earlier_webhooks(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.mutating("b", client.hook("/second", setting_label("b", "2")))
        await client.mutating("a", client.hook("/first", setting_label("a", "1")))
        created = await client.create("widgets", "default", "one")
        assert created["metadata"]["labels"] == {"a": "1", "b": "2"}
        assert client.server.requests("/second")[0]["object"]["metadata"]["labels"] == {"a": "1"}


@pytest.mark.parametrize(
    ("policy", "calls", "reason"),
    [
        ("Never", 1, "it did not ask to be called again"),
        ("IfNeeded", 2, "the object changed after it was called"),
    ],
)
async def test_a_webhook_is_reinvoked_when_a_later_one_changed_the_object(
    tmp_path: Path, policy: str, calls: int, reason: str
) -> None:
    async with setting(tmp_path) as client:
        first = client.hook("/first", counting, reinvocationPolicy=policy)
        await client.mutating("a", first, client.hook("/second", setting_label("b", "2")))
        created = await client.create("widgets", "default", "one")
        assert created["spec"] == {"count": calls}, reason
        assert len(client.server.requests("/second")) == 1


async def test_a_webhook_that_changed_the_object_last_is_not_reinvoked(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.mutating("a", client.hook("/a", counting, reinvocationPolicy="IfNeeded"))
        created = await client.create("widgets", "default", "one")
        assert created["spec"] == {"count": 1}


async def test_an_update_shows_the_old_object(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        created = await client.create("widgets", "default", "one", spec={"size": 1})
        await client.mutating("a", client.hook("/a", setting_label("a", "1")))
        await client.update("widgets", "default", "one", lambda old: {**old, "spec": {"size": 2}})
        (request,) = client.server.requests("/a")
        assert request["operation"] == "UPDATE"
        assert request["oldObject"] == created
        assert request["object"]["spec"] == {"size": 2}
        assert request["options"]["kind"] == "UpdateOptions"


async def test_a_webhook_cannot_change_server_owned_fields(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        odd = patching(
            {"op": "add", "path": "/metadata/uid", "value": "mine"},
            {"op": "add", "path": "/metadata/labels", "value": {"a": "1"}},
        )
        await client.mutating("a", client.hook("/a", lambda _: odd))
        created = await client.create("widgets", "default", "one")
        assert created["metadata"]["uid"] != "mine"
        assert created["metadata"]["labels"] == {"a": "1"}


async def test_a_patch_of_a_built_in_kind_must_fit_its_types(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        rule = {**RULE, "apiGroups": [""], "resources": ["configmaps"]}
        odd = patching({"op": "add", "path": "/data", "value": {"x": 5}})
        await client.mutating("a", client.hook("/a", lambda _: odd, rules=[rule]))
        with pytest.raises(StatusError) as caught:
            await client.create("configmaps", "default", "one")
        assert caught.value.status == 500
        assert "json: cannot unmarshal number into Go struct field ConfigMap.data of type string" in str(
            caught.value
        )


async def test_a_deletion_is_shown_but_cannot_be_changed(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.create("widgets", "default", "one")
        await client.mutating("a", client.hook("/a", lambda _: {"allowed": True}))
        await client.create("widgets", "default", "two")
        await client.delete("widgets", "default", "one")
        request = client.server.requests("/a")[-1]
        assert (request["operation"], request["object"]) == ("DELETE", None)
        assert request["oldObject"]["metadata"]["name"] == "one"
        client.server.on("/a", lambda _: patching({"op": "add", "path": "/a", "value": 1}))
        with pytest.raises(StatusError, match="attempted to modify the object, which is not supported"):
            await client.delete("widgets", "default", "two")


async def test_a_webhook_sees_the_version_that_its_rule_names(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        versions = {name: Version(name, ANYTHING) for name in ("v1", "v2")}
        client.context.registry.put(custom("widgets", "Widget", True, versions=versions))
        exact = client.hook("/exact", setting_label("x", "1"), matchPolicy="Exact")
        await client.mutating("a", client.hook("/any", setting_label("a", "1")), exact)
        created = await client.create("widgets", "default", "one", call={"version": "v2"})
        assert created["apiVersion"] == "example.org/v2"
        assert created["metadata"]["labels"] == {"a": "1"}
        (request,) = client.server.requests("/any")
        assert request["object"]["apiVersion"] == "example.org/v1"
        assert request["kind"]["version"] == request["resource"]["version"] == "v1"
        assert request["requestKind"]["version"] == request["requestResource"]["version"] == "v2"


async def test_configurations_of_webhooks_are_not_sent_to_webhooks(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        everything = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
        no = client.hook("/no", lambda _: {"allowed": False}, rules=[everything])
        await client.mutating("a", no)
        await client.validating("b", client.hook("/no", lambda _: {"allowed": False}))
        await client.delete("mutatingwebhookconfigurations", "", "a")
        assert client.server.received == []
