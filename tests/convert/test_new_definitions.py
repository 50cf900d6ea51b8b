"""Definitions are generated from examples and SimpleSchemas, Compositions from definitions."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.convert.conversion_result import ConversionError
from crossply.convert.new_composition import composition_for
from crossply.convert.new_definition import definition_of_example, definition_of_simple_schema
from crossply.convert.simple_schema_markers import Marker, parse_markers
from crossply.schema.definition_crds import composite_crd


def example(spec: Any, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "acme.test/v1", "kind": "Cache", "metadata": {"name": "x"}, "spec": spec, **more}


def schema_of(definition: dict[str, Any], part: str = "spec") -> dict[str, Any]:
    (version,) = definition["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"][part]
    return schema


def simple(spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    return definition_of_simple_schema(
        {"apiVersion": "acme.test/v1", "kind": "Cache", "spec": spec, **more}, ""
    )


def field(written: Any, **types: Any) -> dict[str, Any]:
    schema: dict[str, Any] = schema_of(simple({"a": written}, customTypes=types))["properties"]["a"]
    return schema


def test_the_head_of_a_definition_is_that_of_its_example() -> None:
    converted = definition_of_example(example({}), "")
    assert converted["metadata"] == {"name": "caches.acme.test"}
    assert converted["spec"]["scope"] == "Cluster"
    assert converted["spec"]["names"] == {"categories": ["crossplane"], "kind": "Cache", "plural": "caches"}
    assert composite_crd(converted)["metadata"]["name"] == "caches.acme.test"


def test_an_example_in_a_namespace_defines_a_namespaced_kind() -> None:
    namespaced = example({}, metadata={"name": "x", "namespace": "n"})
    assert definition_of_example(namespaced, "")["spec"]["scope"] == "Namespaced"


def test_a_requested_plural_is_used() -> None:
    assert definition_of_example(example({}), "Cachen")["metadata"]["name"] == "cachen.acme.test"


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("x", {"type": "string"}),
        (None, {"type": "string"}),
        (True, {"type": "boolean"}),
        (3, {"type": "integer"}),
        (3.0, {"type": "integer"}),
        (3.5, {"type": "number"}),
        ({}, {"type": "object"}),
        ({"b": 1}, {"type": "object", "properties": {"b": {"type": "integer"}}}),
        ([], {"type": "array", "items": {"type": "object"}}),
        ([1, 2.5], {"type": "array", "items": {"type": "number"}}),
        (
            [{"b": 1}, {"c": "x"}],
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"b": {"type": "integer"}, "c": {"type": "string"}},
                },
            },
        ),
    ],
)
def test_the_type_of_a_field_is_guessed(value: object, schema: dict[str, Any]) -> None:
    converted = definition_of_example(example({"a": value}, status={"a": value}), "")
    assert schema_of(converted)["properties"] == {"a": schema}
    assert schema_of(converted, "status")["properties"] == {"a": schema}


def test_fields_of_every_composite_resource_are_omitted() -> None:
    converted = definition_of_example(example({"a": 1, "compositionRef": {"name": "c"}, "claimRef": {}}), "")
    assert list(schema_of(converted)["properties"]) == ["a"]


@pytest.mark.parametrize(
    ("original", "sentence"),
    [
        (None, "invalid manifest: apiVersion is required"),
        (example({}, apiVersion="v1"), "invalid manifest: apiVersion must be in the format group/version"),
        (example({}, kind=""), "invalid manifest: kind is required"),
        (example({}, metadata={}), "invalid manifest: metadata.name is required"),
        (example(None), "invalid manifest: spec is required"),
        (
            example({}, data={}),
            "invalid manifest: valid top-level keys are: "
            "[apiVersion kind metadata spec status additionalPrinterColumns]",
        ),
        (
            example("x"),
            "failed to unmarshal YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
            "string into Go struct field inputXR.spec of type map[string]interface {}",
        ),
        (
            [],
            "failed to unmarshal YAML to check top-level keys: error unmarshaling JSON: while decoding JSON: "
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            example({"a": {"b": [1, "x"]}}),
            "failed to infer properties for spec: error inferring property for key 'a': error inferring "
            "properties for object: error inferring property for key 'b': mixed types detected in array",
        ),
    ],
)
def test_an_example_with_too_few_fields_is_refused(original: Any, sentence: str) -> None:
    with pytest.raises(ConversionError) as refused:
        definition_of_example(original, "")
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("string", {"type": "string"}),
        ("float | minimum=0.5 maximum=2", {"type": "number", "minimum": 0.5, "maximum": 2}),
        ("object", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        ("[]string", {"type": "array", "items": {"type": "string"}}),
        (
            "map[string][]integer",
            {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
        ),
        ("integer | default=3", {"type": "integer", "default": 3}),
        ("boolean | default=true", {"type": "boolean", "default": True}),
        ('[]string | default=["a"]', {"type": "array", "items": {"type": "string"}, "default": ["a"]}),
        ('string | enum="a, b"', {"type": "string", "enum": ["a", "b"]}),
        ("integer | enum=1,2", {"type": "integer", "enum": [1, 2]}),
        ('string | pattern="^a+$" minLength=1', {"type": "string", "pattern": "^a+$", "minLength": 1}),
        (
            "[]string | uniqueItems=true maxItems=3",
            {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "maxItems": 3},
        ),
        (
            "string | immutable=true",
            {
                "type": "string",
                "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "field is immutable"}],
            },
        ),
        (
            {"b": "integer | default=1"},
            {"type": "object", "properties": {"b": {"type": "integer", "default": 1}}, "default": {}},
        ),
        (
            {"b": "integer | default=1", "c": "string | required=true"},
            {
                "type": "object",
                "properties": {"b": {"type": "integer", "default": 1}, "c": {"type": "string"}},
                "required": ["c"],
            },
        ),
    ],
)
def test_a_field_is_written_in_short(written: Any, schema: dict[str, Any]) -> None:
    assert field(written) == schema


def test_a_file_may_define_types_of_its_own() -> None:
    inner = {"type": "object", "properties": {"port": {"type": "integer"}}}
    assert field("[]Listener", Listener={"port": "Port"}, Port="integer") == {"type": "array", "items": inner}


def test_a_computed_status_is_of_any_type() -> None:
    status = schema_of(simple({}, status={"ip": "string", "net": {"id": "${net.id}"}}), "status")
    assert status["properties"]["ip"] == {"type": "string"}
    assert status["properties"]["net"]["properties"]["id"] == {"x-kubernetes-preserve-unknown-fields": True}


def test_printer_columns_are_copied() -> None:
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    (version,) = simple({}, additionalPrinterColumns=columns)["spec"]["versions"]
    assert version["additionalPrinterColumns"] == columns


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("strnig", "unknown type: strnig"),
        ("", "empty type"),
        (3, "unexpected type: int64"),
        ("[]", "empty slice element type"),
        ("map[integer]string", "map key must be string"),
        ("map[string]", "map value type is required"),
        ("[]" * 20 + "string", 'type nesting too deep (max 16): "[][][]string"'),
        ("Loop", "cyclic dependency detected loading type Loop: Loop -> Loop"),
        ("integer | default=x", "default value must be a valid integer, got: x"),
        ("boolean | default=x", "default value must be a valid boolean, got: x"),
        ("object | default=x", "default value must be a valid JSON, got: x"),
        ("string | size=3", 'invalid marker key "size": unknown marker: size'),
        ("string | =3", "empty marker key"),
        ("string | required", "marker key 'required' without a value"),
        ("string |", "marker key '' without a value"),
        ('string | description="x', "unclosed quote"),
        ("object | default={", "unclosed bracket/brace"),
        ("object | default=}", "unmatched closing bracket/brace"),
        (
            "string | required=x",
            'failed to parse required marker value: strconv.ParseBool: parsing "x": invalid syntax',
        ),
        ("string | minItems=1", "minItems marker is only valid for array types, got type: string"),
        ("boolean | enum=true", "enum values only supported for string and integer types, got type: boolean"),
        ('string | enum="a,,b"', "empty enum values are not allowed"),
        ('string | pattern=""', "pattern marker value cannot be empty"),
        ('string | pattern="["', "invalid pattern regex: error parsing regexp: missing closing ]: `[`"),
        ('string | validation=" "', "validation failed"),
    ],
)
def test_a_field_that_cannot_be_understood_is_named(written: Any, problem: str) -> None:
    with pytest.raises(ConversionError) as refused:
        field(written, Loop="Loop")
    assert str(refused.value) == f"failed to convert spec to OpenAPI schema: field a: {problem}"


def test_markers_are_words_with_values() -> None:
    text = r'required=true description="a \"b\" \n c" default={"a": [1, 2]}'
    assert parse_markers(text) == [
        Marker("required", "true"),
        Marker("description", r'a "b" \n c'),
        Marker("default", '{"a": [1, 2]}'),
    ]


def definition(**version: bool) -> dict[str, Any]:
    return {
        "spec": {
            "group": "acme.test",
            "names": {"kind": "XCache", "plural": "xcaches"},
            "versions": [{"name": "v1"}, {"name": "v2", **version}],
        }
    }


def test_a_composition_fits_its_definition() -> None:
    converted = composition_for(definition(served=True, referenceable=True), "AWS", "")
    assert converted["metadata"] == {"name": "aws.xcaches.acme.test"}
    assert converted["spec"]["compositeTypeRef"] == {"apiVersion": "acme.test/v2", "kind": "XCache"}


@pytest.mark.parametrize(
    ("original", "sentence"),
    [
        ({}, "XRD spec.group is required"),
        ({"spec": {"group": "acme.test"}}, "XRD spec.names.kind is required"),
        (definition(served=True), "no served and referenceable version found in XRD"),
        ({"spec": []}, "failed to unmarshal XRD: error unmarshaling JSON: while decoding JSON: json: cannot"),
    ],
)
def test_a_definition_that_is_not_complete_is_refused(original: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConversionError) as refused:
        composition_for(original, "", "")
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("types", "problem"),
    [
        (
            {f"T{n}": {"a": f"T{n - 1}", "b": f"T{n - 1}"} for n in range(1, 40)} | {"T0": "string"},
            "the schema would have more than",
        ),
        (
            {f"T{n}": f"T{n - 1}" for n in range(1, 40 * 40)} | {"T0": "string"},
            "types refer to each other over more than",
        ),
    ],
)
def test_types_that_grow_beyond_measure_are_refused(types: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConversionError, match=problem):
        field(f"T{len(types) - 1}", **types)
