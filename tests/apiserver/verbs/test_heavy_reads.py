"""Reading and answering much leaves the event loop to others."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from crossply.apiserver.auth.authentication import Authenticator
from crossply.apiserver.auth.reviews import Reviews
from crossply.apiserver.auth.static_tokens import StaticTokens
from crossply.apiserver.auth.token_requests import TokenRequests
from crossply.apiserver.endpoints.replies import Reply, indented
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.selectors import MAX_CLAUSES
from crossply.apiserver.verbs.delete import delete
from crossply.apiserver.verbs.get import get
from crossply.apiserver.verbs.list import list_objects
from crossply.apiserver.verbs.virtual_resources import register
from tests.support.apiserver.event_loop import MANY_TURNS, turns_beside
from tests.support.apiserver.rbac import authorizer_of
from tests.support.apiserver.service_accounts import Accounts
from tests.support.apiserver.store_bench import Bench, bench

YAML = "application/yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
ATTRIBUTES = "  resourceAttributes: {verb: get, resource: pods}\n"


def answered(client: Bench, plural: str, body: bytes, content: str, accept: str, **address: str) -> Any:
    accounts = Accounts()
    authenticator = Authenticator(accounts.clock, StaticTokens({}), accounts.tokens)
    reviews = Reviews(authenticator, authorizer_of(), accounts.clock)
    register(client.context, reviews, TokenRequests(client.context.store, accounts.tokens, accounts.clock))
    headers = {"Content-Type": content, "Accept": accept}
    subresource = address.get("subresource", "")
    call = client.call(
        plural, address.get("namespace", ""), address.get("name", ""), "create",
        body=body, headers=headers, subresource=subresource,
    )  # fmt: skip
    return client.context.handlers[call.resource.key, subresource](client.context, call)


def many_fields(count: int) -> bytes:
    return b"spec:\n" + ATTRIBUTES.encode() + b"".join(b"x%d: y\n" % n for n in range(count))


def aliases() -> bytes:
    """A little text that stands for many values, of which as few are written out as YAML readers allow."""
    rows = ["first: &x [" + "x," * 300 + "]", "second: [" + "*x," * 80 + "]"]
    return ("\n".join(rows) + "\nspec:\n" + ATTRIBUTES).encode()


@pytest.mark.parametrize("body", [many_fields(20_000), aliases()], ids=["many fields", "aliases"])
async def test_a_review_in_yaml_leaves_the_event_loop_to_others(body: bytes) -> None:
    async with bench() as client:
        work = answered(client, "selfsubjectaccessreviews", body, YAML, YAML)
        assert await turns_beside(work) > MANY_TURNS


async def test_a_large_answer_in_yaml_leaves_the_event_loop_to_others() -> None:
    request = {"verb": "get", "resource": "pods"}
    extra = {f"key{n}": ["value"] for n in range(20_000)}
    body = orjson.dumps({"spec": {"user": "u", "extra": extra, "resourceAttributes": request}})
    async with bench() as client:
        work = answered(client, "subjectaccessreviews", body, "application/json", YAML)
        assert await turns_beside(work) > MANY_TURNS


async def test_unknown_fields_of_a_review_are_not_answered() -> None:
    attributes = {"verb": "get", "resource": "pods", "other": 1}
    body = {"x": 1, "metadata": {"y": 1}, "spec": {"resourceAttributes": attributes, "z": 1}}
    async with bench() as client:
        reply: Reply = await answered(
            client, "selfsubjectaccessreviews", orjson.dumps(body), "application/json", ""
        )
        answer = orjson.loads(reply.body)
        assert answer.pop("status")["allowed"] is True
        assert answer == {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "metadata": {},
            "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
        }


async def test_a_token_request_in_yaml_leaves_the_event_loop_to_others() -> None:
    async with bench() as client:
        await client.create("serviceaccounts", "n", "one")
        address = {"namespace": "n", "name": "one", "subresource": "token"}
        work = answered(client, "serviceaccounts", many_fields(20_000), YAML, YAML, **address)
        assert await turns_beside(work) > MANY_TURNS


async def test_options_of_a_deletion_in_yaml_leave_the_event_loop_to_others() -> None:
    async with bench() as client:
        await client.create("widgets", "n", "one")
        body = b"".join(b"x%d: y\n" % n for n in range(20_000))
        call = client.call("widgets", "n", "one", "delete", body=body, headers={"Content-Type": YAML})
        assert await turns_beside(delete(client.context, call)) > MANY_TURNS


async def config_maps(client: Bench, count: int, keys: int) -> None:
    data = {f"key{n}": "value" for n in range(keys)}
    for number in range(count):
        labels = {"parity": "odd" if number % 2 else "even"}
        await client.create("configmaps", "n", f"c{number:03}", data=data, metadata={"labels": labels})


def listing(client: Bench, accept: str = "", **query: str) -> Any:
    call = client.call("configmaps", "n", "", "list", query=query, headers={"Accept": accept})
    return list_objects(client.context, call)


@pytest.mark.parametrize(
    ("accept", "query"),
    [
        ("", {"labelSelector": "parity=odd"}),
        (TABLE, {}),
        (METADATA, {}),
        (YAML, {"labelSelector": "parity=odd"}),
        ("application/vnd.kubernetes.protobuf", {}),
    ],
    ids=["label selector", "table", "metadata", "yaml", "protobuf"],
)
async def test_a_list_of_large_objects_leaves_the_event_loop_to_others(
    accept: str, query: dict[str, str]
) -> None:
    async with bench() as client:
        await config_maps(client, 24, 8_000)
        assert await turns_beside(listing(client, accept, **query)) > 20


async def test_one_large_object_in_yaml_leaves_the_event_loop_to_others() -> None:
    async with bench() as client:
        await config_maps(client, 1, 20_000)
        call = client.call("configmaps", "n", "c000", "get", headers={"Accept": YAML})
        assert await turns_beside(get(client.context, call)) > MANY_TURNS


async def test_labels_of_large_objects_are_read_once() -> None:
    async with bench() as client:
        await config_maps(client, 4, 1_000)
        for _ in range(3):
            reply = await listing(client, labelSelector="parity=odd")
            names = [item["metadata"]["name"] for item in orjson.loads(reply.body)["items"]]
            assert names == ["c001", "c003"]
        assert client.context.decoded.decodings == 4


async def test_an_object_is_selected_by_name_without_reading_any() -> None:
    async with bench() as client:
        await config_maps(client, 4, 1_000)
        for selector, expected in (("=c002", ["c002"]), ("!=c002", ["c000", "c001", "c003"]), ("=c9", [])):
            reply = await listing(client, fieldSelector=f"metadata.name{selector}")
            assert [item["metadata"]["name"] for item in orjson.loads(reply.body)["items"]] == expected
        assert client.context.decoded.decodings == 0


async def test_a_selector_of_many_clauses_leaves_the_event_loop_to_others() -> None:
    async with bench() as client:
        await config_maps(client, 200, 1)
        selector = ",".join(f"!a{n}" for n in range(MAX_CLAUSES))
        assert await turns_beside(listing(client, labelSelector=selector)) > 20


@pytest.mark.parametrize("kind", ["labelSelector", "fieldSelector"])
async def test_a_selector_of_too_many_clauses_is_refused(kind: str) -> None:
    clause = "a!=b" if kind == "labelSelector" else "metadata.name!=b"
    async with bench() as client:
        with pytest.raises(StatusError, match="at most 1000 clauses"):
            await listing(client, **{kind: ",".join([clause] * (MAX_CLAUSES + 1))})


def test_only_answers_that_a_person_can_read_are_indented() -> None:
    small, large = orjson.dumps({"a": 1}), orjson.dumps({"a": "x" * (1 << 20)})
    assert indented(Reply(200, small)).body == b'{\n  "a": 1\n}\n'
    assert indented(Reply(200, large)).body == large
