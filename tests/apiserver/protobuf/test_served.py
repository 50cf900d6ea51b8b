"""A client that speaks nothing but protobuf, and a running server."""

from __future__ import annotations

import asyncio
import pathlib
from typing import Any, NamedTuple

import aiohttp
import pytest

from crossply.apiserver.assembly import RunningServer, Settings
from crossply.apiserver.endpoints.body_decoding import PROTOBUF
from crossply.apiserver.protobuf import decode_object, encode_object

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.org/v1/namespaces/default/widgets"
ONLY = {"Accept": PROTOBUF}


class Answer(NamedTuple):
    status: int
    media: str
    body: bytes


class Client:
    """Sends and accepts protobuf by default."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        data = encode_object(body) if body is not None else None
        message = {**ONLY, "Content-Type": PROTOBUF, **headers}
        async with self._session.request(method, path, data=data, headers=message) as answer:
            return Answer(answer.status, answer.headers["Content-Type"], await answer.read())

    async def send_json(self, path: str, body: Any) -> int:
        async with self._session.post(path, json=body) as answer:
            return answer.status


def _config_map(name: str) -> dict[str, Any]:
    data = {"a": "ü", "empty": ""}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def _frames(data: bytes) -> list[bytes]:
    frames = []
    while data:
        size = int.from_bytes(data[:4], "big")
        frames.append(data[4 : 4 + size])
        data = data[4 + size :]
    return frames


async def _objects(client: Client) -> None:
    built = await client.ask("POST", CONFIG_MAPS, _config_map("a"))
    assert (built.status, built.media) == (201, PROTOBUF)
    read = await client.ask("GET", f"{CONFIG_MAPS}/a")
    assert read.body == built.body
    obj = decode_object(read.body, "ConfigMap")
    assert obj["data"] == {"a": "ü", "empty": ""}
    changed = {**obj, "data": {"a": "2"}}
    assert (await client.ask("PUT", f"{CONFIG_MAPS}/a", changed)).status == 200
    listed = decode_object((await client.ask("GET", CONFIG_MAPS)).body, "ConfigMapList")
    assert {"a": "2"} in [item.get("data") for item in listed["items"]]


async def _watch(client: Client) -> None:
    query = "?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Da"
    observed = await client.ask("GET", CONFIG_MAPS + query)
    assert (observed.status, observed.media) == (200, f"{PROTOBUF};stream=watch")
    (frame,) = _frames(observed.body)
    assert frame.startswith(b"\x0a\x05ADDED\x12")
    obj = decode_object(frame[frame.index(b"k8s\0") :], "ConfigMap")
    assert obj["metadata"]["name"] == "a"


async def _deletion(client: Client) -> None:
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "another"}}
    assert (await client.ask("DELETE", f"{CONFIG_MAPS}/a", options)).status == 409
    deleted = await client.ask("DELETE", f"{CONFIG_MAPS}/a", {**options, "preconditions": None})
    assert (deleted.status, decode_object(deleted.body, "Status")["status"]) == (200, "Success")


async def _custom_resources(client: Client) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version],
        },
    }
    assert (await client.ask("POST", DEFINITIONS, definition)).status == 201
    await _established(client)
    widget = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}}
    assert await client.send_json(WIDGETS, widget) == 201
    assert (await client.ask("GET", f"{WIDGETS}/w")).status == 406
    sent = await client.ask("POST", WIDGETS, _config_map("w"), Accept="application/json")
    assert sent.status == 415
    partial = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    metadata = await client.ask("GET", f"{WIDGETS}/w", Accept=partial)
    assert decode_object(metadata.body, "PartialObjectMetadata", "meta.k8s.io/v1")["metadata"]["name"] == "w"


async def _established(client: Client) -> None:
    for _ in range(100):
        if (await client.ask("GET", WIDGETS, Accept="application/json")).status == 200:
            return
        await asyncio.sleep(0.05)
    pytest.fail("the definition is not served")


async def _run(directory: pathlib.Path) -> None:
    server = RunningServer(Settings(directory=str(directory), host="127.0.0.1", port=0, in_memory=True))
    await server.start()
    try:
        token = (directory / "admin.token").read_text().strip()
        async with aiohttp.ClientSession(
            server.url,
            headers={"Authorization": f"Bearer {token}"},
            connector=aiohttp.TCPConnector(ssl=False),
        ) as session:
            client = Client(session)
            await _objects(client)
            await _watch(client)
            await _deletion(client)
            await _custom_resources(client)
    finally:
        await server.stop()


async def test_a_client_of_protobuf_only_is_served(tmp_path: pathlib.Path) -> None:
    await asyncio.wait_for(_run(tmp_path / "data"), 30)
