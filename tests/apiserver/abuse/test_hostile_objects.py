"""Objects that are allowed to be sent, but meant to hurt: large ones, and schemas that are traps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.apiserver.servers import CONFIG_MAPS, Answer, Program, config_map

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def _define(server: Program, plural: str, spec: dict[str, Any]) -> Answer:
    group = "hostile.example.org"
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": plural, "singular": plural.rstrip("s"), "kind": plural.title().rstrip("s")}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Cluster", "names": names, "versions": [version]},
    }
    return server.ask("POST", DEFINITIONS, definition)


def _nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


BOMB = "self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d == ''))))"
STRINGS = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("plural", "spec", "statuses"),
    [
        pytest.param("refs", {"$ref": "#/definitions/x"}, {422}, id="a reference, on which others fall over"),
        pytest.param(
            "manys",
            {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(10_000)}},
            {201, 422},
            id="10,000 properties",
        ),
        pytest.param("deeps", _nested(100), {201, 400, 422}, id="100 levels"),
        pytest.param("toodeeps", _nested(300), {400, 422}, id="300 levels"),
        pytest.param("patterns", {"type": "string", "pattern": "(a+"}, {422}, id="a pattern that is none"),
        pytest.param(
            "repeats", {"type": "string", "pattern": "((a{100}){100}){100}"}, {422}, id="a huge pattern"
        ),
        pytest.param(
            "rules", {**STRINGS, "x-kubernetes-validations": [{"rule": BOMB}]}, {422}, id="a costly rule"
        ),
        pytest.param("types", {"type": "nonsense"}, {422}, id="a type that is none"),
    ],
)
def test_a_hostile_schema_is_refused_or_harmless(
    server: Program, plural: str, spec: dict[str, Any], statuses: set[int]
) -> None:
    answer = _define(server, plural, spec)
    assert answer.status in statuses, answer.body[:500]
    assert answer.status == 201 or answer.json["kind"] == "Status"
    assert server.is_well()


def test_a_pattern_cannot_take_forever(server: Program) -> None:
    spec = {"type": "string", "pattern": "^(a+)+$"}
    assert _define(server, "slows", spec).status == 201
    obj = {
        "apiVersion": "hostile.example.org/v1",
        "kind": "Slow",
        "metadata": {"name": "x"},
        "spec": "a" * 1_000_000 + "!",
    }
    assert server.ask("POST", "/apis/hostile.example.org/v1/slows", obj).status == 422


def test_a_map_of_100000_keys_is_answered(server: Program) -> None:
    keys = {f"key-{number}": "" for number in range(100_000)}
    answer = server.ask("POST", CONFIG_MAPS, config_map("many-keys", **keys))
    assert answer.status in (201, 413, 422)


def test_a_string_of_a_megabyte_is_stored(server: Program) -> None:
    text = "x" * (1_000_000)
    assert server.create_map("long-text", text=text).status == 201
    assert server.ask("GET", f"{CONFIG_MAPS}/long-text").json["data"]["text"] == text
