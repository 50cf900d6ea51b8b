"""What a schema does to objects: defaults, pruning, types, formats."""

from __future__ import annotations

import pytest

from tests.support.api.definitions import objects, version

SCHEMA = {
    "plain": {"type": "string"},
    "port": {"x-kubernetes-int-or-string": True},
    "limited": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    "when": {"type": "string", "format": "date-time"},
    "address": {"type": "string", "format": "ipv4"},
    "maybe": {"type": "string", "nullable": True},
    "nested": {
        "type": "object",
        "default": {},
        "properties": {
            "level": {"type": "integer", "default": 3},
            "deep": {"type": "object", "properties": {}},
        },
    },
    "list": {
        "type": "array",
        "maxItems": 3,
        "items": {"type": "object", "properties": {"n": {"type": "integer", "default": 7}}},
    },
    "map": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2},
    "free": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"n": {"type": "integer"}},
    },
    "embedded": {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    },
    "text": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
    "number": {"type": "number", "exclusiveMinimum": True, "minimum": 1, "maximum": 9},
    "even": {"type": "integer", "multipleOf": 2},
    "either": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "must": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}},
    "bytes": {"type": "string", "format": "byte"},
    "flag": {"type": "boolean"},
    "small": {"type": "integer", "format": "int32"},
}


@pytest.fixture(scope="module")
def defined(admin):
    from tests.support.api.definitions import DEFINITIONS, definition, install, new_group

    body = definition(new_group(), version(spec=SCHEMA))
    install(admin, body)
    yield body
    admin.delete(f"{DEFINITIONS}/{body['metadata']['name']}")


@pytest.fixture
def things(admin, ns, defined):
    return objects(admin, defined, ns)


def test_defaults_are_filled_in_deeply(things):
    created = things.create("one", spec={"list": [{}, {"n": 1}]})
    assert created["spec"] == {"nested": {"level": 3}, "list": [{"n": 7}, {"n": 1}]}


def test_defaults_come_only_where_their_parent_is(things):
    assert "spec" not in things.create("one")


def test_null_takes_the_default_where_it_is_not_allowed(things):
    assert things.create("one", spec={"nested": None})["spec"] == {"nested": {"level": 3}}


def test_null_stays_where_it_is_allowed(things):
    assert things.create("one", spec={"maybe": None})["spec"]["maybe"] is None


def test_null_without_a_default_is_dropped(things):
    created = things.post(things.object("one", spec={"plain": None}))
    assert created.status == 201, created.text
    assert "plain" not in created.json["spec"]


def test_unknown_fields_are_pruned_everywhere(things):
    created = things.create(
        "one", spec={"x": 1, "nested": {"y": 1, "deep": {"z": 1}}, "list": [{"n": 1, "q": 2}]}
    )
    assert created["spec"] == {"nested": {"level": 3, "deep": {}}, "list": [{"n": 1}]}


def test_unknown_fields_are_preserved_with_the_schema_field(things):
    spec = {"free": {"n": 1, "any": {"thing": [1, None, {"a": 2}]}}}
    assert things.create("one", spec=spec)["spec"]["free"] == spec["free"]


def test_fields_at_the_top_are_pruned(things):
    assert "other" not in things.create("one", other={"a": 1})


def test_an_embedded_object_keeps_its_metadata(things):
    inner = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x", "labels": {"a": "b"}}, "more": 1}
    assert things.create("one", spec={"embedded": inner})["spec"]["embedded"] == inner


def test_an_embedded_object_needs_a_kind(things):
    answer = things.post(things.object("one", spec={"embedded": {"metadata": {"name": "x"}}}))
    assert answer.status == 422
    assert sorted(c["field"] for c in answer.causes) == ["spec.embedded.apiVersion", "spec.embedded.kind"]


@pytest.mark.parametrize("value", [80, "http", "50%"])
def test_int_or_string_takes_both(things, value):
    created = things.create("one", spec={"port": value, "limited": value})
    assert created["spec"]["port"] == value
    assert created["spec"]["limited"] == value


GOOD = [
    {"when": "2020-01-01T00:00:00Z"},
    {"address": "10.0.0.1"},
    {"text": "abc"},
    {"number": 1.5},
    {"number": 9},
    {"map": {"a": 1}},
    {"either": {"a": "x"}},
    {"bytes": "aGk="},
    {"small": 2147483647},
    {"flag": False},
]


@pytest.mark.parametrize("spec", GOOD, ids=str)
def test_values_that_fit(things, spec):
    (key,) = spec
    assert things.create("one", spec=spec)["spec"][key] == spec[key]


BAD = [
    (
        {"plain": 5},
        'spec.plain: Invalid value: "integer": spec.plain in body must be of type string: "integer"',
    ),
    (
        {"port": True},
        'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
    ),
    (
        {"when": "yesterday"},
        'spec.when: Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"',
    ),
    (
        {"address": "1.2.3"},
        'spec.address: Invalid value: "1.2.3": spec.address in body must be of type ipv4: "1.2.3"',
    ),
    ({"text": "a"}, 'spec.text: Invalid value: "a": spec.text in body should be at least 2 chars long'),
    ({"text": "abcde"}, "spec.text: Too long: may not be more than 4 bytes"),
    ({"text": "AB"}, "spec.text: Invalid value: \"AB\": spec.text in body should match '^[a-z]+$'"),
    ({"number": 1}, "spec.number: Invalid value: 1: spec.number in body should be greater than 1"),
    ({"number": 10}, "spec.number: Invalid value: 10: spec.number in body should be less than or equal to 9"),
    ({"even": 3}, "spec.even: Invalid value: 3: spec.even in body should be a multiple of 2"),
    ({"list": [{}, {}, {}, {}]}, "spec.list: Too many: 4: must have at most 3 items"),
    ({"map": {"a": 1, "b": 2, "c": 3}}, "spec.map: Too many: 3: must have at most 2 items"),
    (
        {"map": {"a": "x"}},
        'spec.map.a: Invalid value: "string": spec.map.a in body must be of type integer: "string"',
    ),
    ({"must": {}}, "spec.must.x: Required value"),
    ({"either": {}}, None),
    ({"bytes": "***"}, 'spec.bytes: Invalid value: "***": spec.bytes in body must be of type byte: "***"'),
    (
        {"flag": "yes"},
        'spec.flag: Invalid value: "string": spec.flag in body must be of type boolean: "string"',
    ),
    (
        {"nested": []},
        'spec.nested: Invalid value: "array": spec.nested in body must be of type object: "array"',
    ),
]


@pytest.mark.parametrize(("spec", "problem"), BAD, ids=lambda value: str(value)[:30])
def test_values_that_do_not_fit(things, spec, problem):
    answer = things.post(things.object("one", spec=spec))
    assert (answer.status, answer.reason) == (422, "Invalid"), answer.text
    if problem:
        group = things.api_version.partition("/")[0]
        assert answer.message.removeprefix(f'Widget.{group} "one" is invalid: ') == problem


def test_integers_keep_their_format(things):
    answer = things.post(things.object("one", spec={"small": 2147483648}))
    assert answer.status == 422
    assert answer.causes[0]["message"] == (
        'Invalid value: "": Checked value must be of type integer with format int32 in spec.small'
    )


def test_integers_may_be_written_as_floats(things):
    body = things.object("one", spec={"small": 5})
    import json

    raw = json.dumps(body).replace('"small": 5', '"small": 5.0').encode()
    assert things.post(raw).ok(201)["spec"]["small"] == 5


def test_large_integers_are_stored_exactly(things):
    assert (
        things.create("one", spec={"free": {"n": 9007199254740993}})["spec"]["free"]["n"] == 9007199254740993
    )


def test_sets_must_have_no_duplicates(widgets):
    answer = widgets.post(widgets.object("one", spec={"tags": ["a", "b", "a"]}))
    assert answer.status == 422
    assert answer.causes == [
        {"reason": "FieldValueDuplicate", "message": 'Duplicate value: "a"', "field": "spec.tags[2]"}
    ]


def test_map_lists_must_have_no_duplicate_keys(widgets):
    answer = widgets.post(widgets.object("one", spec={"parts": [{"name": "a"}, {"name": "a"}]}))
    assert answer.status == 422
    assert answer.causes == [
        {
            "reason": "FieldValueDuplicate",
            "message": 'Duplicate value: {"name":"a"}',
            "field": "spec.parts[1]",
        }
    ]
