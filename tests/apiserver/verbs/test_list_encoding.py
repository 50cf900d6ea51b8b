"""Items of lists of built-in kinds have no kind."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from crossply.apiserver.stored_object_codec import encode
from crossply.apiserver.verbs.list import list_objects
from crossply.apiserver.verbs.list_encoding import without_type, without_type_of_stored
from tests.support.apiserver.store_bench import bench

NAMED = {"metadata": {"name": "one"}}


@pytest.mark.parametrize(
    ("api_version", "kind", "rest"),
    [
        pytest.param("v1", "Secret", NAMED, id="nothing but a name"),
        pytest.param(
            "v1", "ConfigMap", {**NAMED, "data": {"kind": "ConfigMap", "metadata": "x"}}, id="like it"
        ),
        pytest.param(
            "v1", "ConfigMap", {**NAMED, "data": {"a": '"kind":"ConfigMap","metadata":{'}}, id="quoted"
        ),
        pytest.param(
            "v1",
            "Event",
            {
                **NAMED,
                "involvedObject": {"kind": "Event", "name": "x"},
                "lastTimestamp": None,
                "message": "m",
            },
            id="fields between kind and metadata",
        ),
        pytest.param(
            "discovery.k8s.io/v1", "EndpointSlice", {**NAMED, "addressType": "IPv4"}, id="a field before both"
        ),
        pytest.param(
            "apps/v1",
            "ControllerRevision",
            {**NAMED, "data": {"kind": "ControllerRevision", "metadata": {}}},
            id="another object inside",
        ),
        pytest.param(
            "v1", "Pod", {**NAMED, "spec": {"kind": "Pod", "metadata": {}}}, id="the same again behind"
        ),
    ],
)
def test_the_two_fields_are_cut_out_of_stored_bytes(
    api_version: str, kind: str, rest: dict[str, Any]
) -> None:
    obj = {"apiVersion": api_version, "kind": kind, **rest}
    [cut] = without_type_of_stored([encode(obj)], api_version, kind)
    assert orjson.loads(cut) == without_type(obj) == rest


@pytest.mark.parametrize("selector", ["", "a=b"])
async def test_a_list_has_the_kind_once_for_built_in_kinds_only(selector: str) -> None:
    async with bench() as client:
        for plural in ("configmaps", "widgets"):
            await client.create(plural, "n", "one", metadata={"labels": {"a": "b"}})
        query = {"labelSelector": selector} if selector else {}
        lists = {}
        for plural in ("configmaps", "widgets"):
            reply = await list_objects(client.context, client.call(plural, "n", "", "list", query=query))
            lists[plural] = orjson.loads(reply.body)
        assert lists["configmaps"]["kind"] == "ConfigMapList"
        assert not {"kind", "apiVersion"} & set(lists["configmaps"]["items"][0])
        assert lists["widgets"]["items"][0]["kind"] == "Widget"
