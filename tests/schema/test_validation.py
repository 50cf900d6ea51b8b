"""Every keyword of a schema is checked, and the errors read as Kubernetes writes them."""

from __future__ import annotations

import pytest

from crossply.schema.field_errors import OMITTED, FieldError
from crossply.schema.list_and_embedded_checks import check_list_types
from crossply.schema.validation import as_json, validate

OBJECT = {"type": "object"}
AB = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}

ROWS = [
    ({"type": "integer"}, "x", ['f: Invalid value: "string": f in body must be of type integer: "string"']),
    ({"type": "integer"}, 3.0, []),
    (
        {"type": "integer"},
        3.5,
        [
            'f: Invalid value: "number": f in body must be of type integer: "number"',
            '<nil>: Invalid value: "": Checked value must be of type integer (default format) in f',
        ],
    ),
    ({"type": "number"}, 3, []),
    ({"type": "boolean"}, 1, ['f: Invalid value: "integer": f in body must be of type boolean: "integer"']),
    ({"type": "string"}, None, ['f: Invalid value: "null": f in body must be of type string: "null"']),
    ({"type": "string", "nullable": True}, None, []),
    ({"enum": ["a", 1]}, "b", ['f: Unsupported value: "b": supported values: "a", "1"']),
    ({"enum": ["a"], "nullable": True}, None, ['f: Unsupported value: null: supported values: "a"']),
    ({"maximum": 3}, 4, ["f: Invalid value: 4: f in body should be less than or equal to 3"]),
    (
        {"maximum": 3, "exclusiveMaximum": True},
        3,
        ["f: Invalid value: 3: f in body should be less than 3"],
    ),
    ({"minimum": 1.5}, 1.0, ["f: Invalid value: 1: f in body should be greater than or equal to 1.5"]),
    (
        {"minimum": 1000000.0},
        2.0,
        ["f: Invalid value: 2: f in body should be greater than or equal to 1e+06"],
    ),
    ({"multipleOf": 5}, 7, ["f: Invalid value: 7: f in body should be a multiple of 5"]),
    ({"multipleOf": 0.1}, 0.3, []),
    ({"multipleOf": 0}, 1, ["f: Invalid value: 0: factor MultipleOf declared for f must be positive: 0"]),
    ({"minLength": 2}, "ä", ['f: Invalid value: "ä": f in body should be at least 2 chars long']),
    ({"maxLength": 1}, "ab", ["f: Too long: may not be more than 1 byte"]),
    ({"pattern": "^a"}, "b\n", ["f: Invalid value: \"b\\n\": f in body should match '^a'"]),
    ({"minItems": 2}, [1], ["f: Invalid value: 1: f in body should have at least 2 items"]),
    ({"maxItems": 1}, [1, 2], ["f: Too many: 2: must have at most 1 item"]),
    ({"uniqueItems": True}, [1, True, 1], ['f: Invalid value: "": f in body shouldn\'t contain duplicates']),
    ({"uniqueItems": True}, [1, True, 1.0], []),
    ({"minProperties": 1}, {}, ["f: Invalid value: 0: f in body should have at least 1 properties"]),
    ({"maxProperties": 0}, {"a": 1}, ["f: Too many: 1: must have at most 0 items"]),
    ({"required": ["a"]}, {}, ["f.a: Required value"]),
    (
        {"additionalProperties": False},
        {"a": 1},
        ['f: Invalid value: "a": f.a in body is a forbidden property'],
    ),
    (
        {"additionalProperties": {"type": "string"}},
        {"a": 1},
        ['f.a: Invalid value: "integer": f.a in body must be of type string: "integer"'],
    ),
    (
        {"items": {"type": "string"}},
        ["a", 1],
        ['f[1]: Invalid value: "integer": f[1] in body must be of type string: "integer"'],
    ),
    (
        {**AB, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {},
        ['<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)', "f.a: Required value"],
    ),
    (
        {**AB, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"a": "", "b": ""},
        [
            '<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). '
            "Found 2 valid alternatives"
        ],
    ),
    (
        {"allOf": [{"minimum": 2}, {"minimum": 0}]},
        1,
        [
            "f: Invalid value: 1: f in body should be greater than or equal to 2",
            '<nil>: Invalid value: "": "f" must validate all the schemas (allOf)',
        ],
    ),
    ({"not": {"enum": ["x"]}}, "x", ['<nil>: Invalid value: "": "f" must not validate the schema (not)']),
    ({"x-kubernetes-int-or-string": True}, "80%", []),
    (
        {"x-kubernetes-int-or-string": True},
        1.5,
        ['f: Invalid value: "number": f in body must be of type integer,string: "number"'],
    ),
    (
        {"type": "string", "format": "date-time"},
        "soon",
        ['f: Invalid value: "soon": f in body must be of type date-time: "soon"'],
    ),
    (
        {"type": "string", "format": "date-time"},
        1.0,
        ['f: Invalid value: "float64": f in body must be of type date-time: "float64"'],
    ),
    ({"type": "string", "format": "of-our-own"}, "anything", []),
]


@pytest.mark.parametrize(("schema", "value", "expected"), ROWS, ids=[str(row[:2]) for row in ROWS])
def test_a_keyword_is_checked(schema, value, expected):
    problems = validate({"f": value}, {"type": "object", "properties": {"f": schema}})
    assert [str(error) for error in problems] == expected


def test_a_client_that_only_has_json_sees_floats():
    problems = validate(as_json({"f": 1, "g": True}), {"properties": {"f": {"type": "string"}}})
    assert problems[0].value == "number"
    assert as_json({"f": [1, True]}) == {"f": [1.0, True]}
    assert isinstance(as_json(True), bool)


def test_the_same_sentence_is_reported_once():
    schema = {"properties": {"f": {"type": "string", "allOf": [{"type": "string"}]}}}
    problems = [str(error) for error in validate({"f": 1}, schema)]
    assert len([text for text in problems if "must be of type string" in text]) == 1


LISTS = [
    ("set", {}, ["a", "b", "a", "a"], ['f[2]: Duplicate value: "a"']),
    ("map", {"x-kubernetes-list-map-keys": ["k"]}, [{"k": 1}, {"k": 1}], ['f[1]: Duplicate value: {"k":1}']),
    ("map", {"x-kubernetes-list-map-keys": ["k"]}, [{}, {}], ["f[1]: Duplicate value: {}"]),
    ("map", {"x-kubernetes-list-map-keys": ["k"]}, [{"k": 1}, {"k": "1"}], []),
    (
        "map",
        {"x-kubernetes-list-map-keys": ["k"]},
        [{}, 1],
        ["f[1]: Invalid value: 1: must be an object for an array of list-type map"],
    ),
    ("atomic", {}, ["a", "a"], []),
]


@pytest.mark.parametrize(("kind", "more", "value", "expected"), LISTS)
def test_sets_and_maps_have_no_duplicates(kind, more, value, expected):
    schema = {"properties": {"f": {"type": "array", "x-kubernetes-list-type": kind, **more}}}
    assert [str(error) for error in check_list_types({"f": value}, schema)] == expected


def test_an_omitted_value_is_not_shown():
    assert str(FieldError("FieldValueInvalid", "spec", OMITTED, "no")) == "spec: Invalid value: no"
    assert (
        str(FieldError("FieldValueDuplicate", "", [1, {"a": 2.0}], ""))
        == '<nil>: Duplicate value: [1,{"a":2}]'
    )


def test_errors_about_one_enum_share_its_text():
    first, second = validate(["x", "y"], {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}})
    assert [str(first), str(second)] == [
        '[0]: Unsupported value: "x": supported values: "a", "b"',
        '[1]: Unsupported value: "y": supported values: "a", "b"',
    ]
    assert first.detail is second.detail, "there may be thousands of values, and of errors"
