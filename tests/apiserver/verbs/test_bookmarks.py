"""Bookmarks take the form that the client wants its objects in."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from crossply.apiserver.endpoints.negotiation import negotiate_for
from crossply.apiserver.verbs.watch import Watch
from crossply.apiserver.verbs.watch_options import read_watch_options
from tests.support.apiserver.store_bench import bench

END = {"k8s.io/initial-events-end": "true"}
QUERY = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}


async def events_of(plural: str, shape: str) -> list[Any]:
    """The first two events of a watch that begins with one object."""
    async with bench() as client:
        spec = {"ports": [{"port": 80}]} if plural == "services" else None
        await client.create(plural, "n", "one", **({"spec": spec} if spec else {}))
        accept = f"application/json;as={shape};v=v1;g=meta.k8s.io" if shape else "application/json"
        call = client.call(plural, "n", "", "watch", query=QUERY, headers={"Accept": accept})
        lines = Watch(client.context, call, read_watch_options(call), negotiate_for(call)).chunks()
        observed = b"".join([await anext(lines), await anext(lines)])
        await lines.aclose()  # type: ignore[attr-defined]
        return [orjson.loads(line) for line in observed.splitlines()]


async def test_a_bookmark_of_a_table_is_a_table_without_columns() -> None:
    first, bookmark = await events_of("secrets", "Table")
    assert first["object"]["columnDefinitions"]
    assert bookmark["type"] == "BOOKMARK"
    assert (bookmark["object"]["kind"], bookmark["object"]["columnDefinitions"]) == ("Table", None)
    assert bookmark["object"]["rows"][0]["object"]["metadata"]["annotations"] == END


async def test_a_bookmark_of_metadata_is_metadata() -> None:
    _, bookmark = await events_of("secrets", "PartialObjectMetadata")
    assert bookmark["object"]["kind"] == "PartialObjectMetadata"
    assert bookmark["object"]["metadata"]["annotations"] == END


@pytest.mark.parametrize(
    ("plural", "rest"), [("secrets", {}), ("services", {"spec": {}, "status": {"loadBalancer": {}}})]
)
async def test_a_bookmark_of_a_built_in_kind_is_gos_empty_object(plural: str, rest: Any) -> None:
    _, bookmark = await events_of(plural, "")
    result = bookmark["object"]
    assert {key: result[key] for key in result if key not in ("apiVersion", "kind", "metadata")} == rest
    assert set(result["metadata"]) == {"annotations", "resourceVersion"}


async def test_metadata_comes_as_protobuf_where_that_is_liked_best() -> None:
    async with bench() as client:
        clause = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
        binary, text = f"application/vnd.kubernetes.protobuf;{clause}", f"application/json;{clause}"
        for accept, media in ((f"{binary},{text}", "vnd.kubernetes.protobuf"), (f"{text},{binary}", "json")):
            call = client.call("secrets", "n", "", "list", headers={"Accept": accept})
            assert negotiate_for(call).media == f"application/{media}"
