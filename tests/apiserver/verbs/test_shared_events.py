"""A change is decoded once for all watches."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from crossply.apiserver.verbs.watch import watch
from tests.support.apiserver.event_loop import turns_beside
from tests.support.apiserver.store_bench import Bench, bench

METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def labelled(value: str) -> Any:
    return lambda old: {**old, "metadata": {**old["metadata"], "labels": {"a": value}}}


async def watched(client: Bench, query: dict[str, str], accept: str) -> list[tuple[str, str]]:
    """The types and versions of the events until the last change."""
    headers = {"Accept": accept}
    call = client.call(
        "configmaps", "n", "", "watch", query={"resourceVersion": "1", **query}, headers=headers
    )
    observed: list[tuple[str, str]] = []
    async for piece in watch(client.context, call).chunks():
        for line in piece.splitlines():
            event = orjson.loads(line)
            shown = event["object"]["rows"][0]["object"] if accept == TABLE else event["object"]
            observed.append((event["type"], shown["metadata"]["resourceVersion"]))
            if event["type"] == "DELETED" and len(observed) > 3:
                return observed
    return observed


async def changes(client: Bench) -> None:
    """An object that is selected, is changed, leaves the selection, comes back and is deleted."""
    data = {f"key{n}": "value" for n in range(1000)}
    await client.create("configmaps", "n", "one", data=data, metadata={"labels": {"a": "b"}})
    await client.update("configmaps", "n", "one", lambda old: {**old, "data": {**old["data"], "new": ""}})
    await client.update("configmaps", "n", "one", labelled("c"))
    await client.update("configmaps", "n", "one", labelled("b"))
    await client.delete("configmaps", "n", "one")


LABELS = {"labelSelector": "a=b"}
SELECTED = [("ADDED", "2"), ("MODIFIED", "3"), ("DELETED", "4"), ("ADDED", "5"), ("DELETED", "6")]
ALL = [("ADDED", "2"), ("MODIFIED", "3"), ("MODIFIED", "4"), ("MODIFIED", "5"), ("DELETED", "6")]


@pytest.mark.parametrize(
    ("query", "accept", "expected", "decodings"),
    [
        ({}, "", ALL, 0),
        (LABELS, "", SELECTED, 5),
        ({"fieldSelector": "metadata.name=one"}, "", ALL, 0),
        (LABELS, METADATA, SELECTED, 5),
        (LABELS, TABLE, SELECTED, 5),
    ],
    ids=["everything", "labels", "name", "metadata", "table"],
)
async def test_many_watches_decode_every_state_once(
    query: dict[str, str], accept: str, expected: list[tuple[str, str]], decodings: int
) -> None:
    async with bench() as client:
        await changes(client)
        observed = await asyncio.gather(*(watched(client, query, accept) for _ in range(10)))
        assert observed == [expected] * 10
        assert client.context.decoded.decodings == decodings


async def test_a_watch_over_large_objects_leaves_the_event_loop_to_others() -> None:
    data = {f"key{n}": "value" for n in range(5000)}
    initial = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "labelSelector": "a=b"}
    async with bench() as client:
        for number in range(30):
            await client.create("configmaps", "n", f"c{number}", data=data)
        lines = watch(client.context, client.call("configmaps", "n", "", "watch", query=initial)).chunks()

        async def first() -> bytes:
            return await anext(lines)

        assert await turns_beside(first()) > 20
        await lines.aclose()  # type: ignore[attr-defined]
