"""Objects that nest as deeply as the server stores them can be read in every form, also with others."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from crossply.apiserver.http.limits import Limits
from tests.support.apiserver.servers import Program, Threaded, config_map, events

MAPS = "/api/v1/namespaces/deep/configmaps"
THINGS = "/apis/deep.example.org/v1/namespaces/deep/things"
EVERYWHERE = "/apis/deep.example.org/v1/things"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
PROTOBUF = "application/vnd.kubernetes.protobuf"
ANY_LABEL = "labelSelector=%21absent"
DEFINITION = {
    "metadata": {"name": "things.deep.example.org"},
    "spec": {
        "group": "deep.example.org",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


def _nested(levels: int, key: str = "a") -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {key: value}
    return value


def _owned(fields: dict[str, Any]) -> list[dict[str, Any]]:
    entry = {"manager": "a", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    return [{**entry, "fieldsV1": {"f:data": fields}}]


def _map(levels: int) -> dict[str, Any]:
    """A ConfigMap whose managed fields nest deeply."""
    plain = config_map("deepest", a="b")
    return {**plain, "metadata": {**plain["metadata"], "managedFields": _owned(_nested(levels, "f:a"))}}


def _thing(levels: int) -> dict[str, Any]:
    head = {"apiVersion": "deep.example.org/v1", "kind": "Thing", "metadata": {"name": "deepest"}}
    return {**head, "spec": _nested(levels)}


@pytest.fixture(scope="module", autouse=True)
def namespace(server: Program) -> Iterator[None]:
    assert server.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "deep"}}).status == 201
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert server.ask("POST", definitions, DEFINITION).status == 201
    yield
    server.ask("DELETE", "/api/v1/namespaces/deep")


def _store_deepest(server: Program, path: str, make: Any) -> int:
    """Store an object of the kind with as many levels as the server takes."""
    refused = []
    for levels in range(260, 0, -1):
        answer = server.ask("POST", path, make(levels))
        if answer.status == 201:
            assert refused == [400] * len(refused)
            return levels
        refused.append(answer.status)
    raise AssertionError(f"nothing was stored: {refused}")


@pytest.mark.parametrize(
    ("path", "everywhere", "make", "forms"),
    [
        pytest.param(MAPS, "/api/v1/configmaps", _map, ("", TABLE, PARTIAL, PROTOBUF), id="managed fields"),
        pytest.param(THINGS, EVERYWHERE, _thing, ("", TABLE, PARTIAL, "application/yaml"), id="a field"),
    ],
)
def test_the_deepest_object_that_is_stored_can_be_read_in_every_form(
    server: Program, path: str, everywhere: str, make: Any, forms: tuple[str, ...]
) -> None:
    # Schemas of real definitions nest about 70 levels deep.
    assert _store_deepest(server, path, make) > 150
    for form in forms:
        accept = {"Accept": form} if form else {}
        for query in ("", ANY_LABEL, "includeObject=Object", "pretty=true"):
            answer = server.ask("GET", f"{everywhere}?{query}", **accept)
            assert answer.status == 200, (form, query, answer.body[-300:])
        assert server.ask("GET", f"{path}/deepest", **accept).status == 200
    watch = f"{everywhere}?watch=true&timeoutSeconds=1&includeObject=Object"
    for query in ("", f"&{ANY_LABEL}"):
        answer = server.ask("GET", watch + query)
        assert any(
            json.loads(line)["object"]["metadata"]["name"] == "deepest" for line in answer.body.splitlines()
        )
        assert b"deepest" in server.ask("GET", watch + query, Accept=TABLE).body
    labels = {"metadata": {"labels": {"a": "b"}}}
    merge = "application/merge-patch+json"
    assert server.ask("PATCH", f"{path}/deepest", labels, Content_Type=merge).status == 200
    assert server.ask("DELETE", f"{path}/deepest").status == 200


def test_a_patch_cannot_make_an_object_too_deep(server: Program) -> None:
    assert server.ask("POST", MAPS, config_map("patched", a="b")).status == 201
    patch = {"metadata": {"managedFields": _owned(_nested(244, "f:a"))}}
    answer = server.ask("PATCH", f"{MAPS}/patched", patch, Content_Type="application/merge-patch+json")
    assert (answer.status, "nests deeper" in answer.message) == (400, True)


def test_an_object_that_is_stored_too_deep_does_not_hide_the_others(tmp_path: pathlib.Path) -> None:
    """Earlier versions stored objects that could be written alone, but not within a list."""
    with Threaded(tmp_path / "data", Limits()) as server:
        body = {**config_map("old"), "metadata": {"name": "old", "namespace": "default"}}
        body["metadata"]["managedFields"] = _owned(_nested(246, "f:a"))
        body["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"

        def encode(revision: int) -> bytes:
            body["metadata"]["resourceVersion"] = str(revision)
            return orjson.dumps(body)

        server.run(server.store.write(("configmaps", "default", "old"), None, encode))
        assert server.create_map("fresh").status == 201
        for accept in ("application/json", TABLE, PARTIAL, PROTOBUF):
            answer = server.ask("GET", f"/api/v1/configmaps?{ANY_LABEL}", Accept=accept)
            assert (answer.status, b"fresh" in answer.body) == (200, True), accept
        with server.watch(f"/api/v1/configmaps?watch=true&timeoutSeconds=1&{ANY_LABEL}") as response:
            names = {event["object"]["metadata"]["name"] for event in events(response)}
        assert {"old", "fresh"} <= names
        assert server.ask("DELETE", "/api/v1/namespaces/default/configmaps/old").status == 200
