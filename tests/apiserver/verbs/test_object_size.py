"""Objects cannot be made larger than a limit, in however many steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.writes import MOST_STORED_BYTES
from crossply.apiserver.served_resources import Version
from crossply.apiserver.verbs.create import create
from crossply.apiserver.verbs.get import get
from crossply.apiserver.verbs.patch import MERGE_PATCH, patch
from tests.support.apiserver.store_bench import Bench, bench, custom

PART = 1 << 20


def call(client: Bench, verb: str, body: Any) -> Any:
    headers = {"Content-Type": MERGE_PATCH if verb == "patch" else "application/json"}
    return client.call("widgets", "n", "one", verb, body=orjson.dumps(body), headers=headers)


async def test_an_object_does_not_grow_beyond_the_limit_but_becomes_smaller_and_is_deleted() -> None:
    async with bench() as client:
        head = {"apiVersion": "example.org/v1", "kind": "Widget"}
        await create(client.context, call(client, "create", {**head, "metadata": {"name": "one"}}))
        for number in range(MOST_STORED_BYTES // PART - 1):
            await patch(client.context, call(client, "patch", {"spec": {f"part{number}": "x" * PART}}))
        version = client.get("widgets", "n", "one")["metadata"]["resourceVersion"]  # type: ignore[index]
        with pytest.raises(
            StatusError, match="Request entity too large: the object would be stored in"
        ) as refused:
            await patch(client.context, call(client, "patch", {"spec": {"more": "x" * PART}}))
        assert refused.value.status == 413
        assert client.get("widgets", "n", "one")["metadata"]["resourceVersion"] == version  # type: ignore[index]
        await patch(client.context, call(client, "patch", {"spec": {"part0": None}}))
        await client.delete("widgets", "n", "one")
        assert client.get("widgets", "n", "one") is None


def with_large_items(client: Bench) -> None:
    """Give widgets a schema whose default is filled into each item, also of those that are stored."""
    text = {"type": "string", "default": "x" * 100_000}
    items = {"type": "array", "items": {"type": "object", "properties": {"text": text}}}
    versions = {"v1": Version("v1", {"type": "object", "properties": {"list": items}})}
    built = custom("widgets", "Widget", True, versions=versions)
    client.context.registry.put(replace(built, since=client.context.store.revision + 1))


async def test_defaults_do_not_make_an_object_too_large() -> None:
    async with bench() as client:
        with_large_items(client)
        head = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "one"}}
        large = call(client, "create", {**head, "list": [{}] * 20_000})
        with pytest.raises(StatusError, match="the defaults of its schema would add more than") as refused:
            await create(client.context, large)
        assert refused.value.status == 413
        await create(client.context, call(client, "create", {**head, "list": [{}] * 2}))
        with pytest.raises(StatusError, match="the defaults of its schema would add more than"):
            await patch(client.context, call(client, "patch", {"list": [{}] * 20_000}))


async def test_an_object_that_later_defaults_would_make_too_large_is_read_without_them_and_deleted() -> None:
    async with bench() as client:
        await client.create("widgets", "n", "one", list=[{}] * 20_000)
        with_large_items(client)
        reply = await get(client.context, client.call("widgets", "n", "one", "get"))
        assert orjson.loads(reply.body)["list"] == [{}] * 20_000
        await client.delete("widgets", "n", "one")
        assert client.get("widgets", "n", "one") is None
