"""The cost of a definition beside thousands of others: nothing is done for an unused kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crossply.apiserver.apiextensions import cel_rule_compiler, structural_validation
from crossply.apiserver.apiextensions.cel_rule_compiler import with_numbered_fields
from crossply.apiserver.apiextensions.cel_size_estimates import sizes
from crossply.apiserver.apiextensions.crd_without_schemas import (
    definition_with_managed_fields,
)
from crossply.apiserver.apiextensions.schema_survey import is_plain
from crossply.apiserver.builtin import resources
from crossply.apiserver.registry.apply_scopes import Scopes
from crossply.apiserver.storage import Store
from crossply.apply import update
from crossply.schema.cel_types import declare
from crossply.schema.go_decode_errors import type_problem
from crossply.schema.json_schema_props import DecodeError, decode_props
from crossply.values import Object
from tests.support.apiserver.definition_controller import Bench, definition_key, running
from tests.support.apiserver.definitions import TEXT, definition, errors_of, version

BOXES = "boxes.acme.example.org"
SCHEMA: Object = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": TEXT}}}}


def schema_of(bench: Bench) -> Any:
    resource = bench.context.registry.find("acme.example.org", "boxes")
    assert resource is not None
    return resource.versions["v1"].schema


async def test_creating_a_definition_does_not_decode_its_schema_for_use() -> None:
    async with running() as bench:
        await bench.create(definition(SCHEMA))
        await bench.settled(BOXES)
        assert bench.definitions.schemas.decodings == 0
        first, second = schema_of(bench), schema_of(bench)
        assert first["properties"]["spec"] == SCHEMA["properties"]["spec"]
        assert second is first
        assert bench.definitions.schemas.decodings == 1


async def test_a_served_kind_holds_the_bytes_of_the_store_and_no_older_ones() -> None:
    async with running() as bench:
        await bench.create(definition(SCHEMA))
        await bench.settled(BOXES)
        entry = bench.context.store.get(definition_key(BOXES))
        assert entry is not None
        assert bench.definitions._known[BOXES].stored.data is entry.data


async def test_a_change_of_the_status_reuses_the_resource_and_its_compiled_rules() -> None:
    async with running() as bench:
        await bench.create(definition(SCHEMA))
        await bench.settled(BOXES)
        resource, schema = bench.context.registry.find("acme.example.org", "boxes"), schema_of(bench)
        await bench.change(BOXES, lambda old: {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}})
        assert bench.context.registry.find("acme.example.org", "boxes") is resource
        assert schema_of(bench) is schema


async def test_a_restart_validates_no_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    store = await Store.open(None)
    async with running(store) as bench:
        await bench.create(definition(SCHEMA))
        await bench.settled(BOXES)
        checked: list[Object] = []
        monkeypatch.setattr(
            structural_validation, "_own_invariants", lambda schema, *_: checked.append(schema)
        )
        async with running(store) as restarted:
            assert restarted.context.registry.find("acme.example.org", "boxes") is not None
            assert restarted.definitions.schemas.decodings == 0
        assert checked == []


def with_rule(field: str) -> Object:
    rule = {"rule": f"!('*' in self.policies) || has(self.inner.{field})", "message": f"{field} is required"}
    properties = {
        "policies": {"type": "array", "items": TEXT, "maxItems": 3},
        "inner": {"type": "object", "properties": {field: TEXT, "other": TEXT}},
    }
    spec = {"type": "object", "properties": properties, "x-kubernetes-validations": [rule]}
    return definition({"type": "object", "properties": {"spec": spec}})


def test_a_rule_about_another_field_is_not_recompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    cel_rule_compiler._compiled.clear()
    assert errors_of(with_rule("region")) == []
    known = dict(cel_rule_compiler._compiled)
    assert errors_of(with_rule("engineVersion")) == []
    assert cel_rule_compiler._compiled == known


def test_a_rule_about_a_missing_field_names_it() -> None:
    wrong = with_rule("region")
    spec = wrong["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["inner"]["properties"] = {"other": TEXT}
    assert "undefined field 'region'" in "".join(errors_of(wrong))


NAMES = [
    ("self.size == 'a'", "self.field_0 == 'a'", "a field"),
    ("self.size() > 1 && self.size == 'a'", None, "also the name of a function"),
    ("'.size' == self.size", "'.size' == self.field_0", "texts stay as they are"),
    ("self.?size.hasValue()", None, "an optional field is named by a text in the tree"),
    ("self.size == self.field_0", None, "a numbered name is taken"),
    ("self.nope == 'a'", None, "not a field"),
]


@pytest.mark.parametrize(("text", "expected", "reason"), NAMES)
def test_which_names_are_numbered(text: str, expected: str | None, reason: str) -> None:
    schema = {"type": "object", "properties": {"size": TEXT, "field_0": TEXT}}
    declared, size = declare(schema), sizes(schema, is_resource=False)
    assert declared is not None
    assert size is not None
    assert with_numbered_fields(text, declared, size).text == (expected or text), reason


def recorded_schemas() -> list[Any]:
    rows = json.loads(Path(__file__).with_name("recorded_definitions.json").read_text())
    versions = [item for row in rows for item in row["spec"].get("versions") or ()]
    return [(item.get("schema") or {}).get("openAPIV3Schema") for item in versions]


PLAIN = [
    ({"type": "object", "properties": {"a": TEXT}}, True),
    ({"type": "array", "items": {"type": "integer", "minimum": 1, "enum": [1, 2]}}, True),
    ({"type": "object", "additionalProperties": {"type": "string", "nullable": True}}, True),
    ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, True),
    ({"type": ""}, False),
    ({"minimum": 1.5}, False),
    ({"nullable": False}, False),
    ({"properties": {}}, False),
    ({"properties": {"a": None}}, False),
    ({"surprise": 1}, False),
    ({"maxItems": 2**63}, False),
    ({"x-kubernetes-validations": [{"rule": "true"}, {"rule": "true"}]}, False),
    (None, False),
]


@pytest.mark.parametrize(("schema", "expected"), PLAIN)
def test_which_schemas_are_plain(schema: Any, expected: bool) -> None:
    assert is_plain(schema) is expected


def test_go_leaves_a_plain_schema_as_it_is() -> None:
    plain = [schema for schema in [*recorded_schemas(), *(row[0] for row in PLAIN)] if is_plain(schema)]
    assert len(plain) > 20
    for schema in plain:
        built = definition(schema)
        assert type_problem(built, "v1.CustomResourceDefinition") is None
        try:
            assert decode_props(schema) == schema
        except DecodeError as problem:
            pytest.fail(f"{schema}: {problem}")


def test_managed_fields_are_those_of_the_whole_definition() -> None:
    kind = next(resource for resource in resources() if resource.names.kind == "CustomResourceDefinition")
    scope = Scopes().of(kind, "v1", "")
    first = definition(SCHEMA)
    changed = definition({**SCHEMA, "description": "other"})
    wider = definition(None, version("v1", SCHEMA), version("v2", storage=False))
    for old, new in ((None, first), (first, changed), (first, first), (first, wider), (wider, first)):
        before = old and update(None, old, scope, "first", "2026-01-01T00:00:00Z")
        arguments = (before, dict(new), scope, "second", "2026-01-02T00:00:00Z")
        assert definition_with_managed_fields(*arguments) == update(*arguments)
    status = {
        **update(None, first, scope, "first", "2026-01-01T00:00:00Z"),
        "status": {"storedVersions": ["v1"]},
    }
    before = {key: value for key, value in status.items() if key != "status"}
    on_status = (before, status, Scopes().of(kind, "v1", "status"), "second", "2026-01-02T00:00:00Z")
    assert definition_with_managed_fields(*on_status) == update(*on_status)
