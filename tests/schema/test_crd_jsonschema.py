"""Editors get JSON Schemas with all existing fields."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.schema.crd_jsonschema import convert, json_schemas, to_text


@pytest.mark.parametrize(
    ("schema", "converted", "reason"),
    [
        ({"type": "object"}, {"additionalProperties": False, "type": "object"}, "unknown fields are marked"),
        (
            {"type": "object", "additionalProperties": {"type": "object"}},
            {"additionalProperties": {"additionalProperties": False, "type": "object"}, "type": "object"},
            "a map keeps its values",
        ),
        ({"x-kubernetes-int-or-string": True}, True, "what only Kubernetes understands is left out"),
        ({"type": "string", "nullable": True}, {"type": "string"}, "nullable is no JSON Schema"),
        ({"maximum": 5, "exclusiveMaximum": True}, {"exclusiveMaximum": 5}, "the flag becomes the bound"),
        ({"maximum": 5, "exclusiveMaximum": False}, {"maximum": 5}, "a flag that is off says nothing"),
        (
            {"items": {"type": "object"}, "type": "array"},
            {"items": {"additionalProperties": False, "type": "object"}, "type": "array"},
            "items are converted",
        ),
        (
            {"anyOf": [{}, {"type": "object"}]},
            {"anyOf": [True, {"additionalProperties": False, "type": "object"}]},
            "so are alternatives",
        ),
    ],
)
def test_a_schema_is_converted_for_an_editor(schema: Any, converted: Any, reason: str) -> None:
    assert convert(schema) == converted, reason


def test_every_version_has_a_file() -> None:
    versions = [{"name": name, "schema": {"openAPIV3Schema": {"type": "object"}}} for name in ("v1", "v2")]
    schemas = json_schemas(
        {"spec": {"group": "acme.test", "names": {"kind": "XCache"}, "versions": versions}}
    )
    assert [schema.file_name for schema in schemas] == [
        "acme.test_v1_xcache.json",
        "acme.test_v2_xcache.json",
    ]
    assert list(schemas[0].schema) == [
        "$id",
        "additionalProperties",
        "type",
        "x-kubernetes-group-version-kind",
    ]


def test_the_text_is_indented_and_keeps_its_order() -> None:
    value = {"b": [1, {"<": 1.0}], "a": {}, "c": []}
    assert to_text(value) == (
        '{\n  "b": [\n    1,\n    {\n      "\\u003c": 1\n    }\n  ],\n  "a": {},\n  "c": []\n}'
    )
