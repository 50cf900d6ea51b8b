"""The life of a CustomResourceDefinition: conditions, names, versions, deletion."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import pytest

from tests.support.api.client import TABLE
from tests.support.api.definitions import (
    DEFINITIONS,
    condition,
    definition,
    install,
    new_group,
    objects,
    version,
    wait_until_served,
)
from tests.support.api.polling import eventually

SPEC = {"a": {"type": "string"}}


@pytest.fixture
def group(admin):
    """A group; the definitions in it go with the case."""
    name = new_group()
    yield name
    for item in admin.get(DEFINITIONS).json["items"]:
        if item["spec"]["group"] == name:
            admin.delete(f"{DEFINITIONS}/{item['metadata']['name']}")


def read(admin, body):
    return admin.get(f"{DEFINITIONS}/{body['metadata']['name']}").ok(200)


def test_a_definition_is_accepted_and_established(admin, group):
    body = definition(group, version(spec=SPEC))
    built = install(admin, body)
    conditions = {c["type"]: (c["status"], c["reason"], c["message"]) for c in built["status"]["conditions"]}
    assert conditions == {
        "NamesAccepted": ("True", "NoConflicts", "no conflicts found"),
        "Established": ("True", "InitialNamesAccepted", "the initial names have been accepted"),
    }
    assert built["status"]["storedVersions"] == ["v1"]
    assert built["status"]["acceptedNames"] == {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
    }


def test_names_are_defaulted(admin, group):
    created = admin.post(DEFINITIONS, definition(group, version(spec=SPEC))).ok(201)
    assert created["spec"]["names"] == {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
    }
    assert created["spec"]["conversion"] == {"strategy": "None"}


def test_the_name_must_be_plural_and_group(admin, group):
    body = definition(group, version(spec=SPEC))
    body["metadata"]["name"] = f"other.{group}"
    answer = admin.post(DEFINITIONS, body)
    assert answer.status == 422
    assert answer.causes[0] == {
        "reason": "FieldValueInvalid",
        "message": f'Invalid value: "other.{group}": must be spec.names.plural+"."+spec.group',
        "field": "metadata.name",
    }


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (
            {"scope": "Somewhere"},
            "spec.scope",
            'Unsupported value: "Somewhere": supported values: "Cluster", "Namespaced"',
        ),
        ({"versions": []}, "spec.versions", None),
        ({"names": {"plural": "widgets"}}, "spec.names.kind", "Required value"),
        ({"preserveUnknownFields": True}, "spec.preserveUnknownFields", None),
    ],
    ids=["scope", "versions", "kind", "preserve"],
)
def test_bad_definitions_are_refused(admin, group, change, field, message):
    body = definition(group, version(spec=SPEC))
    body["spec"] |= change
    answer = admin.post(DEFINITIONS, body)
    assert answer.status == 422
    result = [cause for cause in answer.causes if cause["field"] == field]
    assert result, answer.causes
    if message:
        assert result[0]["message"] == message


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "array"}, 'Invalid value: "array": must be object at the root'),
        (
            {"type": "object", "properties": {"a": {}}},
            "Required value: must not be empty for specified object fields",
        ),
        (
            {
                "type": "object",
                "properties": {
                    "a": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "properties": {"b": {"type": "string"}},
                    }
                },
            },
            "additionalProperties and properties are mutual exclusive",
        ),
        ({"type": "object", "properties": {"a": {"type": "string", "default": 5}}}, "must be of type string"),
        (
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}
                },
            },
            "x-kubernetes-list-map-keys",
        ),
        ({"type": "object", "properties": {"a": {"type": "nonsense"}}}, 'Unsupported value: "nonsense"'),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
            "must be a valid regular expression",
        ),
        (
            {
                "type": "object",
                "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}},
            },
            "metadata",
        ),
        ({"type": "object", "$ref": "#/x"}, "$ref is not supported"),
    ],
    ids=["root", "untyped", "additional", "default", "map keys", "type", "pattern", "metadata", "ref"],
)
def test_schemas_that_are_not_structural_are_refused(admin, group, schema, expected):
    body = definition(
        group, {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    )
    answer = admin.post(DEFINITIONS, body)
    assert answer.status == 422, answer.text
    assert expected in answer.message


def test_a_schema_is_required(admin, group):
    body = definition(group, {"name": "v1", "served": True, "storage": True})
    answer = admin.post(DEFINITIONS, body)
    assert answer.status == 422
    assert answer.causes[0]["field"] == "spec.versions[0].schema.openAPIV3Schema"
    assert answer.causes[0]["message"] == "Required value"


def test_one_version_is_the_stored_one(admin, group):
    body = definition(group, version("v1", SPEC), version("v2", SPEC))
    answer = admin.post(DEFINITIONS, body)
    assert answer.status == 422
    assert "must have exactly one version marked as storage version" in answer.message


def test_versions_have_different_names(admin, group):
    body = definition(group, version("v1", SPEC), version("v1", SPEC, storage=False))
    answer = admin.post(DEFINITIONS, body)
    assert answer.status == 422
    assert "must contain unique version names" in answer.message


def test_a_kind_that_is_in_use_is_not_accepted(admin, group):
    install(admin, definition(group, version(spec=SPEC)))
    second = definition(group, version(spec=SPEC), names={"plural": "others", "singular": "other"})
    admin.post(DEFINITIONS, second).ok(201)
    result = eventually(lambda: condition(read(admin, second), "NamesAccepted") and read(admin, second))
    status = {c["type"]: (c["status"], c["reason"], c["message"]) for c in result["status"]["conditions"]}
    assert status["NamesAccepted"] == ("False", "ListKindConflict", '"WidgetList" is already in use')
    assert status["Established"][0] == "False"
    assert admin.get(f"/apis/{group}/v1/others").status == 404


def test_a_short_name_that_is_in_use_is_not_accepted(admin, group):
    install(admin, definition(group, version(spec=SPEC), names={"shortNames": ["zz"]}))
    second = definition(group, version(spec=SPEC), kind="Gadget", names={"shortNames": ["zz"]})
    admin.post(DEFINITIONS, second).ok(201)
    result = eventually(lambda: condition(read(admin, second), "NamesAccepted") and read(admin, second))
    status = {c["type"]: (c["status"], c["reason"], c["message"]) for c in result["status"]["conditions"]}
    assert status["NamesAccepted"] == ("False", "ShortNamesConflict", '"zz" is already in use')


def test_a_conflict_of_names_ends_with_the_other_definition(admin, group):
    first = definition(group, version(spec=SPEC))
    install(admin, first)
    second = definition(group, version(spec=SPEC), names={"plural": "others", "singular": "other"})
    admin.post(DEFINITIONS, second).ok(201)
    eventually(lambda: condition(read(admin, second), "NamesAccepted") == "False")
    admin.delete(f"{DEFINITIONS}/{first['metadata']['name']}").ok(200)
    wait_until_served(admin, second)


def test_objects_are_served_at_every_version(admin, ns, group):
    body = definition(group, version("v1", SPEC), version("v1beta1", SPEC, storage=False))
    install(admin, body)
    created = objects(admin, body, ns, "v1beta1").create("one", spec={"a": "x"})
    assert created["apiVersion"] == f"{group}/v1beta1"
    observed = objects(admin, body, ns, "v1").read("one")
    assert observed["apiVersion"] == f"{group}/v1"
    assert observed["spec"] == {"a": "x"}


def test_a_field_of_one_version_is_pruned_at_another(admin, ns, group):
    body = definition(
        group, version("v1", SPEC), version("v2", {**SPEC, "b": {"type": "string"}}, storage=False)
    )
    install(admin, body)
    created = objects(admin, body, ns, "v2").create("one", spec={"a": "x", "b": "y"})
    assert created["spec"] in ({"a": "x", "b": "y"}, {"a": "x"})
    assert objects(admin, body, ns, "v1").read("one")["spec"] == {"a": "x"}


def test_a_version_that_is_not_served(admin, ns, group):
    body = definition(group, version("v1", SPEC), version("v2", SPEC, storage=False, served=False))
    install(admin, body)
    assert admin.get(f"/apis/{group}/v2/widgets").status == 404


def test_a_deprecated_version_is_warned_about(admin, ns, group):
    old = version("v1alpha1", SPEC, storage=False, deprecated=True)
    older = version("v1alpha2", SPEC, storage=False, deprecated=True, deprecationWarning="use v1, please")
    body = definition(group, version("v1", SPEC), old, older)
    install(admin, body)
    assert objects(admin, body, ns, "v1").list().warnings == []
    assert objects(admin, body, ns, "v1alpha1").list().warnings == [
        f"{group}/v1alpha1 Widget is deprecated; use {group}/v1 Widget"
    ]
    assert objects(admin, body, ns, "v1alpha2").list().warnings == ["use v1, please"]


def test_a_cluster_scoped_kind(admin, group):
    body = definition(group, version(spec=SPEC), scope="Cluster")
    install(admin, body)
    created = objects(admin, body).create("one", spec={"a": "x"})
    assert "namespace" not in created["metadata"]
    assert admin.get(f"/apis/{group}/v1/namespaces/default/widgets").status == 404


def test_a_schema_can_be_changed(admin, ns, group):
    body = definition(group, version(spec=SPEC))
    install(admin, body)
    things = objects(admin, body, ns)
    assert things.create("one", spec={"b": 1})["spec"] == {}
    path = f"{DEFINITIONS}/{body['metadata']['name']}"
    new = version(spec={**SPEC, "b": {"type": "integer", "default": 5}})
    admin.patch(path, {"spec": {"versions": [new]}}).ok(200)
    eventually(lambda: things.read("one").get("spec") == {"b": 5})


def test_stored_versions_are_recorded(admin, ns, group):
    body = definition(group, version("v1", SPEC), version("v2", SPEC, storage=False))
    install(admin, body)
    path = f"{DEFINITIONS}/{body['metadata']['name']}"
    changed = admin.patch(
        path, {"spec": {"versions": [version("v1", SPEC, storage=False), version("v2", SPEC)]}}
    ).ok(200)
    assert changed["status"]["storedVersions"] == ["v1", "v2"]
    answer = admin.patch(path, {"spec": {"versions": [version("v2", SPEC)]}})
    assert answer.status == 422
    assert answer.causes[0]["message"] == (
        'Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in '
        "spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from "
        "status.storedVersions"
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [({"group": "other.example.org"}, "spec.group"), ({"scope": "Cluster"}, "spec.scope")],
)
def test_group_and_scope_are_immutable(admin, group, change, field):
    body = definition(group, version(spec=SPEC))
    install(admin, body)
    answer = admin.patch(f"{DEFINITIONS}/{body['metadata']['name']}", {"spec": change})
    assert answer.status == 422
    assert field in [cause["field"] for cause in answer.causes]


def test_deletion_clears_the_objects(admin, ns, group):
    body = definition(group, version(spec=SPEC))
    install(admin, body)
    things = objects(admin, body, ns)
    things.create("one")
    path = f"{DEFINITIONS}/{body['metadata']['name']}"
    admin.delete(path).ok(200)
    eventually(lambda: admin.get(path).status == 404)
    eventually(lambda: things.list().status == 404)
    install(admin, body)
    assert things.list().names == []


def test_deletion_waits_for_finalizers_of_objects(admin, ns, group):
    body = definition(group, version(spec=SPEC))
    install(admin, body)
    things = objects(admin, body, ns)
    things.create("one", {"finalizers": ["example.org/a"]})
    path = f"{DEFINITIONS}/{body['metadata']['name']}"
    admin.delete(path).ok(200)
    result = eventually(
        lambda: condition(admin.get(path).json, "Terminating") == "True" and admin.get(path).json
    )
    assert "customresourcecleanup.apiextensions.k8s.io" in result["metadata"]["finalizers"]
    eventually(lambda: things.get("one").json["metadata"].get("deletionTimestamp"))
    message = eventually(lambda: (answer := things.post(things.object("two"))).status == 403 and answer)
    assert message.message == (
        f'widgets.{group} "two" is forbidden: create not allowed while custom resource definition is terminating'
    )
    admin.patch(path, {"metadata": {"annotations": {"example.org/note": "still written to"}}}).ok(200)
    things.merge("one", {"metadata": {"finalizers": None}}).ok(200)
    eventually(lambda: admin.get(path).status == 404)


def test_columns_can_show_anything(admin, ns, group):
    schema_version = version(
        spec={
            "list": {"type": "array", "items": {"type": "string"}},
            "on": {"type": "boolean"},
            "n": {"type": "number"},
        },
        additionalPrinterColumns=[
            {"name": "All", "type": "string", "jsonPath": ".spec.list"},
            {"name": "First", "type": "string", "jsonPath": ".spec.list[0]"},
            {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
            {"name": "N", "type": "number", "jsonPath": ".spec.n"},
            {"name": "Label", "type": "string", "jsonPath": ".metadata.labels.example\\.org/a"},
        ],
    )
    body = definition(group, schema_version)
    install(admin, body)
    things = objects(admin, body, ns)
    things.create("one", {"labels": {"example.org/a": "v"}}, spec={"list": ["x", "y"], "on": True, "n": 1.5})
    (row,) = things.list(accept=TABLE).json["rows"]
    assert row["cells"] == ["one", '["x","y"]', "x", True, 1.5, "v"]


def test_without_columns_the_age_is_shown(admin, ns, group):
    body = definition(group, version(spec=SPEC))
    install(admin, body)
    table = objects(admin, body, ns).list(accept=TABLE).json
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "Age"]


def test_a_bad_column_is_refused(admin, group):
    columns = [{"name": "X", "type": "nonsense", "jsonPath": "spec.a"}]
    answer = admin.post(DEFINITIONS, definition(group, version(spec=SPEC, additionalPrinterColumns=columns)))
    assert answer.status == 422
    assert sorted(c["field"] for c in answer.causes) == [
        "spec.additionalPrinterColumns[0].JSONPath",
        "spec.additionalPrinterColumns[0].type",
    ]


def test_a_bad_selectable_field_is_refused(admin, group):
    answer = admin.post(
        DEFINITIONS, definition(group, version(spec=SPEC, selectableFields=[{"jsonPath": ".spec.none"}]))
    )
    assert answer.status == 422
    assert answer.causes[0]["field"] == "spec.selectableFields[0].jsonPath"


def test_status_without_the_subresource_is_part_of_the_object(admin, ns, group):
    body = definition(group, version(spec=SPEC, status={"phase": {"type": "string"}}))
    install(admin, body)
    things = objects(admin, body, ns)
    assert things.create("one", status={"phase": "x"})["status"] == {"phase": "x"}
    assert things.get("one", "status").status == 404
    changed = things.merge("one", {"status": {"phase": "y"}}).ok(200)
    assert changed["metadata"]["generation"] == 2


def test_a_protected_group_needs_an_approval(admin):
    body = definition(f"{new_group().split('.')[0]}.k8s.io", version(spec=SPEC))
    answer = admin.post(DEFINITIONS, body)
    assert answer.status == 422
    assert answer.causes[0]["field"] == "metadata.annotations[api-approved.kubernetes.io]"


def test_the_status_of_a_definition_cannot_be_set_on_creation(admin, group):
    body = definition(group, version(spec=SPEC))
    body["status"] = {"storedVersions": ["v7"], "conditions": [], "acceptedNames": {}}
    created = admin.post(DEFINITIONS, body).ok(201)
    assert created["status"]["storedVersions"] == ["v1"]
