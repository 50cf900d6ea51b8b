"""Objects cannot be made larger than a limit, in however many steps."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.writes import MOST_STORED_BYTES
from crossply.apiserver.verbs.create import create
from crossply.apiserver.verbs.patch import MERGE_PATCH, patch
from tests.support.apiserver.store_bench import Bench, bench

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
