"""Schemas of kinds in OpenAPI documents, with references resolved as Kubernetes resolves them."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.schema.kind_openapi_schema_lookup import UnresolvedSchema, find_schema

REF = "#/components/schemas/"


def thing(**schema: Any) -> dict[str, Any]:
    kind = {"group": "example.org", "version": "v1", "kind": "Thing"}
    return {"type": "object", "x-kubernetes-group-version-kind": [kind], **schema}


def resolve(schemas: dict[str, Any]) -> Any:
    return find_schema(schemas, "example.org/v1", "Thing")


def properties_of(**properties: Any) -> Any:
    text = {"type": "string", "description": "a text"}
    schema = resolve({"Thing": thing(properties=properties), "Text": text})
    return schema["properties"]


def test_a_kind_is_resolved_by_group_version_and_kind() -> None:
    schemas = {"Thing": thing()}
    assert find_schema(schemas, "example.org/v1", "Thing") == thing()
    assert find_schema(schemas, "example.org/v2", "Thing") is None
    assert find_schema(schemas, "v1", "Thing") is None


def test_a_schema_that_several_kinds_share_describes_none() -> None:
    shared = thing()
    shared["x-kubernetes-group-version-kind"] *= 2
    assert resolve({"Shared": shared}) is None


@pytest.mark.parametrize(
    ("reason", "node"),
    [
        ("a reference", {"$ref": f"{REF}Text"}),
        (
            "a reference wrapped to carry a description",
            {"allOf": [{"$ref": f"{REF}Text"}], "description": "other"},
        ),
        ("the first reference of several", {"allOf": [{"type": "string"}, {"$ref": f"{REF}Text"}]}),
    ],
)
def test_a_node_with_a_reference_becomes_its_target(reason: str, node: Any) -> None:
    assert properties_of(name=node)["name"] == {"type": "string", "description": "a text"}, reason


def test_items_and_additional_properties_are_resolved_too() -> None:
    text = {"$ref": f"{REF}Text"}
    resolved = properties_of(items={"type": "array", "items": text}, map={"additionalProperties": text})
    assert resolved["items"]["items"]["type"] == "string"
    assert resolved["map"]["additionalProperties"]["type"] == "string"


def test_other_places_are_left_as_they_are() -> None:
    node = {"oneOf": [{"$ref": f"{REF}Text"}], "additionalProperties": True, "default": {"$ref": "no schema"}}
    assert properties_of(name=node)["name"] == node


def test_a_reference_to_a_schema_around_it_becomes_an_empty_object() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": f"{REF}Node"}}}
    schema = resolve({"Thing": thing(properties={"spec": {"$ref": f"{REF}Node"}}), "Node": node})
    assert schema["properties"]["spec"] == {"type": "object", "properties": {"next": {"type": "object"}}}
    schema = resolve({"Thing": thing(properties={"self": {"$ref": f"{REF}Thing"}})})
    assert schema["properties"] == {"self": {"type": "object"}}


def test_two_references_to_the_same_schema_are_both_resolved() -> None:
    text = {"$ref": f"{REF}Text"}
    assert properties_of(a=text, b=text)["a"] == properties_of(a=text, b=text)["b"]


def test_a_reference_to_nothing_is_refused() -> None:
    with pytest.raises(UnresolvedSchema, match="cannot resolve Ref '#/components/schemas/None'"):
        properties_of(name={"$ref": f"{REF}None"})


def test_schemas_that_grow_without_end_are_refused() -> None:
    schemas: dict[str, Any] = {
        "L0": {"type": "object"},
        "Thing": thing(properties={"a": {"$ref": f"{REF}L20"}}),
    }
    for level in range(1, 21):
        below = {"$ref": f"{REF}L{level - 1}"}
        schemas[f"L{level}"] = {"properties": {"a": below, "b": below}}
    with pytest.raises(UnresolvedSchema, match="too large"):
        resolve(schemas)


def test_a_schema_too_deep_to_walk_is_refused() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(5_000):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(UnresolvedSchema, match="too large"):
        resolve({"Thing": thing(properties={"a": schema})})
