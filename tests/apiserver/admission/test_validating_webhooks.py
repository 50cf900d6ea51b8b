"""Validating webhooks let writes pass or refuse them, and failures follow the failure policy."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from crossply.apiserver.endpoints.status_errors import StatusError
from tests.support.apiserver.admission import RULE, setting
from tests.support.apiserver.webhook_server import patching


def allow(_: Any) -> dict[str, Any]:
    return {"allowed": True}


DENIALS = [
    ({}, 400, None, "without explanation", "nothing said"),
    ({"message": "no"}, 400, None, ": no", "a message"),
    ({"reason": "Forbidden"}, 400, "Forbidden", ": Forbidden", "the reason stands for the message"),
    ({"code": 403, "reason": "Forbidden", "message": "no"}, 403, "Forbidden", ": no", "all of it"),
    ({"code": 200, "status": "Success", "message": "no"}, 400, None, ": no", "a refusal is no success"),
]


@pytest.mark.parametrize(("status", "code", "reason", "words", "why"), DENIALS)
async def test_a_refusal_has_the_words_of_kubernetes(
    tmp_path: Path, status: dict[str, Any], code: int, reason: str | None, words: str, why: str
) -> None:
    async with setting(tmp_path) as client:
        await client.validating("v", client.hook("/v", lambda _: {"allowed": False, "status": status}))
        with pytest.raises(StatusError) as caught:
            await client.create("widgets", "default", "one")
        body = caught.value.body()
        message = 'admission webhook "v.example.org" denied the request'
        assert body["message"].removeprefix(message).strip() == words.strip(), why
        assert (body["code"], body.get("reason")) == (code, reason), why
        assert client.names("widgets") == []


async def test_details_of_a_refusal_and_warnings_reach_the_client(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        details = {"name": "n", "causes": [{"field": "f", "message": "m", "reason": "r"}]}
        answer = {"allowed": False, "status": {"code": 403, "details": details}, "warnings": ["careful"]}
        await client.validating("v", client.hook("/v", lambda _: answer))
        call = client.call("widgets", "default", "one", "create")
        with pytest.raises(StatusError) as caught:
            await client.context.admission.validate(call, "CREATE", {"metadata": {"name": "one"}}, None)
        assert caught.value.body()["details"] == details
        assert call.warnings == ["careful"]


FAILURES = [
    (
        500,
        'failed to call webhook: an error on the server ("broken") has prevented the request from succeeding',
    ),
    (404, "failed to call webhook: the server could not find the requested resource"),
    (403, "failed to call webhook: broken"),
    (
        302,
        "failed to call webhook: the server responded with the status code 302 but did not return more "
        "information",
    ),
    (b"{}", "received invalid webhook response: webhook response was absent"),
    (
        b'{"kind": "Foo", "apiVersion": "admission.k8s.io/v1"}',
        'failed to call webhook: no kind "Foo" is registered for version "admission.k8s.io/v1" in scheme '
        '"pkg/runtime/scheme.go:111"',
    ),
    (
        patching({"op": "add", "path": "/x", "value": 1}),
        "received invalid webhook response: validating webhook may not return response.patch",
    ),
]


@pytest.mark.parametrize(("answer", "words"), FAILURES)
async def test_a_webhook_that_fails_refuses_the_write_or_is_ignored(
    tmp_path: Path, answer: Any, words: str
) -> None:
    async with setting(tmp_path) as client:
        await client.validating("v", client.hook("/v", lambda _: answer))
        with pytest.raises(StatusError) as caught:
            await client.create("widgets", "default", "one")
        why = f'failed calling webhook "v.example.org": {words}'
        assert caught.value.body() == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f"Internal error occurred: {why}",
            "reason": "InternalError",
            "details": {"causes": [{"message": why}]},
            "code": 500,
        }
        await client.delete("validatingwebhookconfigurations", "", "v")
        await client.validating("v", client.hook("/v", lambda _: answer, failurePolicy="Ignore"))
        assert await client.create("widgets", "default", "one")


async def test_an_answer_to_another_question_is_no_answer(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.validating("v", client.hook("/v", lambda _: {"allowed": True, "uid": "x"}))
        with pytest.raises(StatusError, match=r'expected response.uid="[-0-9a-f]{36}", got "x"'):
            await client.create("widgets", "default", "one")


async def test_an_answer_that_never_ends_is_cut_off(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.validating("v", client.hook("/v", lambda _: b" " * (4 << 20)))
        with pytest.raises(StatusError, match="the response is larger than"):
            await client.create("widgets", "default", "one")


async def test_a_webhook_has_its_time_and_no_more(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        hook = client.hook("/v", lambda _: asyncio.sleep(10, {"allowed": True}), timeoutSeconds=1)
        await client.validating("v", hook)
        with pytest.raises(StatusError) as caught:
            await client.create("widgets", "default", "one")
        url = hook["clientConfig"]["url"]
        assert f'Post "{url}?timeout=1s": context deadline exceeded' in str(caught.value)


UNREACHABLE = [
    ({"url": "https://127.0.0.1:1/x"}, r"dial tcp 127.0.0.1:1: connect: connection refused"),
    ({"url": "https://nope.invalid/x"}, r"dial tcp: lookup nope.invalid: no such host"),
    (
        {"service": {"name": "hooks", "namespace": "default", "path": "/p"}},
        r'Post "https://hooks.default.svc:443/p?timeout=5s": service "hooks" not found',
    ),
]


@pytest.mark.parametrize(("client_config", "words"), UNREACHABLE)
async def test_an_unreachable_webhook_is_reported_in_gos_words(
    tmp_path: Path, client_config: dict[str, Any], words: str
) -> None:
    async with setting(tmp_path) as client:
        await client.validating("v", client.hook("/v", allow) | {"clientConfig": client_config})
        with pytest.raises(StatusError) as caught:
            await client.create("widgets", "default", "one")
        assert words in str(caught.value)


async def test_a_certificate_of_an_unknown_authority_is_refused(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        hook = client.hook("/v", allow)
        del hook["clientConfig"]["caBundle"]
        await client.validating("v", hook)
        with pytest.raises(StatusError, match="x509: certificate signed by unknown authority"):
            await client.create("widgets", "default", "one")
        assert client.server.received == []


async def test_a_webhook_behind_a_service_is_called_by_the_name_of_the_service(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        hook = client.hook("/v", lambda _: {"allowed": False, "status": {"message": "by service"}})
        await client.create(
            "services",
            "default",
            "hooks",
            spec={"type": "ExternalName", "externalName": "127.0.0.1.nip.example"},
        )
        await client.update(
            "services",
            "default",
            "hooks",
            lambda old: {**old, "spec": {**old["spec"], "externalName": "localhost"}},
        )
        service = {"name": "hooks", "namespace": "default", "path": "/v", "port": client.server.port}
        hook["clientConfig"] = {"service": service, "caBundle": client.server.bundle}
        await client.validating("v", hook)
        with pytest.raises(StatusError, match="denied the request: by service"):
            await client.create("widgets", "default", "one")


async def test_webhooks_are_called_concurrently(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        arrived = 0
        all_there = asyncio.Event()

        async def answer(_: Any) -> dict[str, Any]:
            nonlocal arrived
            arrived += 1
            if arrived == 3:
                all_there.set()
            await all_there.wait()
            return {"allowed": True}

        await client.validating("v", *(client.hook(f"/v{n}", answer) for n in range(3)))
        assert await client.create("widgets", "default", "one")


DRY_RUNS = [("None", True), ("NoneOnDryRun", True), ("Some", False), ("Unknown", False)]


@pytest.mark.parametrize(("side_effects", "called"), DRY_RUNS)
async def test_only_webhooks_without_side_effects_are_called_in_a_dry_run(
    tmp_path: Path, side_effects: str, called: bool
) -> None:
    async with setting(tmp_path) as client:
        client.server.on("/v", allow)
        hook = client.hook("/v", allow)
        # The API refuses such side effects today; old objects may still have them.
        await client.validating("v", hook)
        index = client.context.admission._validating  # type: ignore[attr-defined]
        (webhook,) = index.webhooks
        object.__setattr__(webhook, "side_effects", side_effects)
        dry = {"query": {"dryRun": "All"}}
        if called:
            await client.create("widgets", "default", "one", call=dry)
            (request,) = client.server.requests("/v")
            assert request["dryRun"] is True
            assert request["options"]["dryRun"] == ["All"]
        else:
            with pytest.raises(
                StatusError, match=r'admission webhook "v.example.org" does not support dry run'
            ):
                await client.create("widgets", "default", "one", call=dry)
        assert client.names("widgets") == []


def rule(**changes: Any) -> list[dict[str, Any]]:
    return [{**RULE, **changes}]


MATCHES = [
    ({}, True, "the plain rule"),
    ({"rules": rule(operations=["UPDATE", "DELETE"])}, False, "another operation"),
    ({"rules": rule(apiGroups=["*"], apiVersions=["*"], resources=["*"])}, True, "everything"),
    ({"rules": rule(resources=["*/*"])}, True, "every resource and subresource"),
    ({"rules": rule(resources=["widgets/status"])}, False, "the status only"),
    ({"rules": rule(resources=["*/status"])}, False, "every status"),
    ({"rules": rule(scope="Namespaced")}, True, "namespaced resources"),
    ({"rules": rule(scope="Cluster")}, False, "cluster scoped resources"),
    ({"rules": rule(apiGroups=["other.org"])}, False, "another group"),
    ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, True, "a label of the namespace"),
    ({"namespaceSelector": {"matchLabels": {"team": "b"}}}, False, "another label of the namespace"),
    (
        {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a"]}]}},
        False,
        "all namespaces but one",
    ),
    ({"objectSelector": {"matchLabels": {"app": "x"}}}, True, "a label of the object"),
    (
        {"objectSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}},
        False,
        "objects without a label",
    ),
    ({"matchConditions": [{"name": "c", "expression": "object.spec.size > 3"}]}, True, "a condition"),
    (
        {
            "matchConditions": [
                {"name": "c", "expression": "object.spec.size > 3"},
                {"name": "d", "expression": "request.userInfo.username != 'admin'"},
            ]
        },
        False,
        "a condition that does not hold",
    ),
    (
        {
            "matchConditions": [
                {"name": "c", "expression": "object.spec.nope == 1"},
                {"name": "d", "expression": "false"},
            ]
        },
        False,
        "one that is false decides over one that cannot be evaluated",
    ),
]


@pytest.mark.parametrize(("changes", "matches", "why"), MATCHES)
async def test_a_webhook_is_called_for_matching_requests(
    tmp_path: Path, changes: dict[str, Any], matches: bool, why: str
) -> None:
    async with setting(tmp_path) as client:
        await client.create("namespaces", "", "team", metadata={"labels": {"team": "a"}})
        await client.validating("v", client.hook("/v", allow, **changes))
        await client.create("widgets", "team", "one", metadata={"labels": {"app": "x"}}, spec={"size": 5})
        assert bool(client.server.received) is matches, why


async def test_a_condition_that_cannot_be_evaluated_follows_the_failure_policy(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        conditions = [
            {"name": "c", "expression": "object.spec.nope == 'x'"},
            {"name": "d", "expression": "object.other.nope == 'x'"},
        ]
        await client.validating("v", client.hook("/v", allow, matchConditions=conditions))
        with pytest.raises(StatusError) as caught:
            await client.create("widgets", "default", "one", spec={})
        assert str(caught.value) == (
            "widgets.example.org \"one\" is forbidden: [expression 'object.spec.nope == 'x'' resulted in "
            "error: no such key: nope, expression 'object.other.nope == 'x'' resulted in error: no such key: "
            "other]"
        )
        await client.delete("validatingwebhookconfigurations", "", "v")
        await client.validating(
            "v", client.hook("/v", allow, matchConditions=conditions, failurePolicy="Ignore")
        )
        await client.create("widgets", "default", "one", spec={})
        assert client.server.received == []


async def test_the_labels_of_a_namespace_under_creation_count(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        rules = rule(apiGroups=[""], resources=["namespaces"])
        selector = {"matchLabels": {"watched": "yes"}}
        await client.validating("v", client.hook("/v", allow, rules=rules, namespaceSelector=selector))
        await client.create("namespaces", "", "one", metadata={"labels": {"watched": "yes"}})
        await client.create("namespaces", "", "two")
        assert [request["name"] for request in client.server.requests("/v")] == ["one"]


async def test_the_name_is_generated_before_validating_webhooks_are_called(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.mutating("m", client.hook("/m", allow))
        await client.validating("v", client.hook("/v", allow))
        created = await client.create("widgets", "default", "", metadata={"generateName": "w-"})
        assert "name" not in client.server.requests("/m")[0]
        assert client.server.requests("/v")[0]["name"] == created["metadata"]["name"]


async def test_changed_and_deleted_configurations_count_at_once(tmp_path: Path) -> None:
    async with setting(tmp_path) as client:
        await client.validating("v", client.hook("/v", lambda _: {"allowed": False}))
        with pytest.raises(StatusError):
            await client.create("widgets", "default", "one")
        new = client.hook("/w", allow)
        await client.update(
            "validatingwebhookconfigurations", "", "v", lambda old: {**old, "webhooks": [new]}
        )
        await client.create("widgets", "default", "one")
        await client.delete("validatingwebhookconfigurations", "", "v")
        await client.create("widgets", "default", "two")
        assert len(client.server.requests("/w")) == 1
