"""Schemas of kinds from their definitions, and of the kinds of Kubernetes itself."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import SchemaSelector
from crossply.compose.in_memory_cluster import InMemoryCluster
from crossply.schema.builtin_schemas import builtin_schema, object_meta
from crossply.schema.kind_openapi_schema_lookup import defined_schema
from crossply.values import Object

TEXT = {"type": "string"}


def crd(kind: str, *versions: str) -> Object:
    def version(name: str) -> Object:
        spec = {"type": "object", "properties": {name: TEXT}}
        schema = {"type": "object", "properties": {"metadata": {"type": "object"}, "spec": spec}}
        return {"name": name, "schema": {"openAPIV3Schema": schema}}

    spec = {"group": "example.org", "names": {"kind": kind}, "versions": [version(name) for name in versions]}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}


def xrd() -> Object:
    spec = {"type": "object", "properties": {"size": TEXT}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "apps.example.org"},
        "spec": {
            "group": "example.org",
            "names": {"kind": "App", "plural": "apps"},
            "versions": [{"name": "v1", "served": True, "referenceable": True, "schema": schema}],
        },
    }


def test_a_definition_has_a_schema_for_every_version_with_the_metadata_of_every_object() -> None:
    schema = defined_schema([crd("Other", "v2"), crd("Thing", "v1", "v2")], "example.org/v2", "Thing")
    assert schema is not None
    assert schema["properties"]["spec"]["properties"] == {"v2": TEXT}
    assert schema["properties"]["metadata"] == object_meta()
    assert schema["properties"]["apiVersion"] == TEXT


@pytest.mark.parametrize(
    ("api_version", "kind"), [("example.org/v3", "Thing"), ("other.org/v1", "Thing"), ("example.org/v1", "X")]
)
def test_a_kind_that_no_definition_has_has_no_schema(api_version: str, kind: str) -> None:
    assert defined_schema([crd("Thing", "v1")], api_version, kind) is None


def test_an_xrd_has_the_schema_of_its_composite_resource_with_the_fields_of_the_engine() -> None:
    schema = defined_schema([xrd()], "example.org/v1", "App")
    assert schema is not None
    assert set(schema["properties"]["spec"]["properties"]) == {"size", "crossplane"}
    assert "conditions" in schema["properties"]["status"]["properties"]


def test_a_cluster_in_memory_finds_schemas_in_definitions_and_prefers_documents() -> None:
    selector = SchemaSelector("example.org/v1", "Thing")
    named = {"x-kubernetes-group-version-kind": [{"group": "example.org", "version": "v1", "kind": "Thing"}]}
    document = {"components": {"schemas": {"t": {"type": "object", "title": "document", **named}}}}
    by_object = InMemoryCluster([crd("Thing", "v1")]).schema(selector)
    by_definition = InMemoryCluster([], definitions=lambda: [crd("Thing", "v1")]).schema(selector)
    assert by_object is not None
    assert by_object == by_definition
    by_document = InMemoryCluster([crd("Thing", "v1")], schemas=[document]).schema(selector)
    assert by_document is not None
    assert by_document["title"] == "document"
    assert InMemoryCluster([]).schema(selector) is None


def at(schema: Object | None, *path: str) -> Object:
    assert schema is not None
    for step in path:
        schema = schema[step] if step in ("items", "additionalProperties") else schema["properties"][step]
    return schema


@pytest.mark.parametrize(
    ("api_version", "kind", "path", "expected"),
    [
        ("apps/v1", "Deployment", ("spec", "replicas"), {"type": "integer", "format": "int32"}),
        ("apps/v1", "Deployment", ("spec", "template", "spec", "containers", "items", "image"), TEXT),
        ("v1", "Secret", ("data", "additionalProperties"), {"type": "string", "format": "byte"}),
        ("v1", "Secret", ("metadata", "creationTimestamp"), {"type": "string", "format": "date-time"}),
        (
            "v1",
            "Service",
            ("spec", "ports", "items", "targetPort"),
            {"format": "int-or-string", "oneOf": [{"type": "integer"}, TEXT]},
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            ("spec", "resources", "requests", "additionalProperties"),
            {"oneOf": [TEXT, {"type": "number"}]},
        ),
        ("v1", "Event", ("eventTime",), {"type": "string", "format": "date-time"}),
        ("networking.k8s.io/v1", "Ingress", ("spec", "rules", "items", "host"), TEXT),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", ("spec", "group"), TEXT),
    ],
)
def test_kinds_of_kubernetes_have_schemas(
    api_version: str, kind: str, path: tuple[str, ...], expected: Object
) -> None:
    assert at(builtin_schema(api_version, kind), *path) == expected


def test_a_schema_inside_of_itself_is_an_empty_object() -> None:
    schema = at(
        builtin_schema("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "spec", "versions", "items"
    )
    assert at(schema, "schema", "openAPIV3Schema", "not") == {"type": "object"}


def test_a_kind_that_kubernetes_does_not_have_has_no_schema() -> None:
    assert builtin_schema("apps/v1", "Thing") is None
