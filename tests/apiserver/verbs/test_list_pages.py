"""Pages of a list, by its continue tokens."""

from __future__ import annotations

from typing import Any

import orjson

from crossply.apiserver.verbs.list import list_objects
from tests.support.apiserver.store_bench import Bench, bench
from tests.support.entered_modules import entered_modules

OBJECTS, LIMIT = 200, 20


async def page(client: Bench, token: str = "") -> dict[str, Any]:
    query = {"limit": str(LIMIT), **({"continue": token} if token else {})}
    reply = await list_objects(client.context, client.call("widgets", "", "", "list", query=query))
    listed: dict[str, Any] = orjson.loads(reply.body)
    return listed


async def test_every_page_costs_the_same_and_none_looks_at_those_before() -> None:
    async with bench() as client:
        for number in range(OBJECTS):
            # "team-1" comes before "team", as in etcd.
            await client.create("widgets", ("team", "team-1", "other")[number % 3], f"w{number:03}")
        names: list[tuple[str, str]] = []
        calls: list[int] = []
        token = ""
        while token or not names:
            with entered_modules() as entered:
                listed = await page(client, token)
            calls.append(len(entered))
            names += [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in listed["items"]]
            token = listed["metadata"].get("continue", "")
    assert len(names) == len(set(names)) == OBJECTS
    assert names == sorted(names, key=lambda name: f"{name[0]}/{name[1]}")
    assert calls[-1] < OBJECTS
