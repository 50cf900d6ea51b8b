"""Objects stored before their kind got its present schema are read by the present schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from crossply.apiserver.endpoints.negotiation import PLAIN
from crossply.apiserver.served_resources import Version
from crossply.apiserver.verbs.get import get
from crossply.apiserver.verbs.list import list_objects
from crossply.apiserver.verbs.watch import Watch
from crossply.apiserver.verbs.watch_options import read_watch_options
from tests.support.apiserver.store_bench import Bench, bench, custom

SPEC = {"type": "object", "properties": {"size": {"type": "string", "default": "small"}}}
SCHEMA = {"type": "object", "properties": {"spec": SPEC}}
OLD, NOW = {"color": "red"}, {"size": "small"}


async def changed_world(client: Bench) -> None:
    """Store an object, then give its kind a schema with a default and without its field."""
    await client.create("widgets", "n", "old", spec=OLD)
    versions = {"v1": Version("v1", SCHEMA), "v2": Version("v2", SCHEMA)}
    built = custom("widgets", "Widget", True, versions=versions)
    client.context.registry.put(replace(built, since=client.context.store.revision + 1))


async def first_event(client: Bench, version: str) -> Any:
    call = client.call("widgets", "n", "", "watch", version=version)
    lines = Watch(client.context, call, read_watch_options(call), PLAIN).chunks()
    event = orjson.loads(await anext(lines))
    await lines.aclose()  # type: ignore[attr-defined]
    return event["object"]["spec"]


@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_every_read_shows_defaults_and_no_unknown_fields(version: str) -> None:
    async with bench() as client:
        await changed_world(client)
        first = await get(client.context, client.call("widgets", "n", "old", "get", version=version))
        assert orjson.loads(first.body)["spec"] == NOW
        several = await list_objects(client.context, client.call("widgets", "n", "", "list", version=version))
        assert orjson.loads(several.body)["items"][0]["spec"] == NOW
        assert await first_event(client, version) == NOW


async def test_a_change_builds_on_the_object_as_read() -> None:
    async with bench() as client:
        await changed_world(client)
        written = await client.update("widgets", "n", "old", lambda old: {**old, "metadata": labelled(old)})
        assert written["spec"] == NOW
        stored = client.get("widgets", "n", "old")
        assert stored is not None
        assert stored["spec"] == NOW


def labelled(old: dict[str, Any]) -> dict[str, Any]:
    return {**old["metadata"], "labels": {"a": "b"}}
