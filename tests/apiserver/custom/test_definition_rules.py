"""Validation of CustomResourceDefinitions. The messages are those of kube-apiserver v1.36."""

from __future__ import annotations

import json
import os

import pytest

from crossply.values import Object
from tests.support.apiserver.definitions import NUMBER, TEXT, definition, errors_of, version


def recorded() -> list[Object]:
    path = os.path.join(os.path.dirname(__file__), "recorded_definitions.json")
    with open(path, encoding="utf-8") as file:
        rows: list[Object] = json.load(file)
    return rows


@pytest.mark.parametrize("row", [pytest.param(row, id=str(index)) for index, row in enumerate(recorded())])
def test_the_same_is_wrong_as_kubernetes_finds(row: Object) -> None:
    new = {"metadata": row["metadata"], "spec": row["spec"]}
    old = {"metadata": row["metadata"], **row["old"]} if "old" in row else None
    # Kubernetes walks over properties in any order.
    assert sorted(errors_of(new, old)) == sorted(row["errors"])


def test_an_ordinary_definition_is_right() -> None:
    assert errors_of(definition()) == []


def test_the_name_must_consist_of_plural_and_group() -> None:
    wrong = definition()
    wrong["metadata"]["name"] = "crates.acme.example.org"
    message = (
        'metadata.name: Invalid value: "crates.acme.example.org": must be spec.names.plural+"."+spec.group'
    )
    assert errors_of(wrong) == [message]


def test_a_group_needs_a_dot() -> None:
    wrong = definition(group="acme")
    wrong["metadata"]["name"] = "boxes.acme"
    assert errors_of(wrong) == ['spec.group: Invalid value: "acme": should be a domain with at least one dot']


def test_exactly_one_version_is_stored() -> None:
    shown = (
        '[{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,'
        '"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]'
    )
    assert errors_of(definition(None, version(storage=False))) == [
        f"spec.versions: Invalid value: {shown}: must have exactly one version marked as storage version",
        "status.storedVersions: Invalid value: null: must have at least one stored version",
    ]


def test_a_version_that_differs_is_shown_with_its_schema() -> None:
    errors = errors_of(definition(None, version("v1"), version("v1", {"type": "object", "title": "T"})))
    storage, unique = errors[1], errors[0]
    assert unique.endswith(": must contain unique version names")
    assert storage.endswith(": must have exactly one version marked as storage version")
    assert (
        '"Schema":{"OpenAPIV3Schema":{"ID":"","Schema":"","Ref":null,"Description":"","Type":"object"'
        in unique
    )
    assert '"Title":"T"' in unique


def test_errors_shared_by_versions_are_reported_once_above_them() -> None:
    bad = {"type": "object", "properties": {"a": {}}}
    same = errors_of(definition(None, version("v1", bad), version("v2", bad, storage=False)))
    other = errors_of(definition(None, version("v1", bad), version("v2", storage=False)))
    message = "Required value: must not be empty for specified object fields"
    assert same == [f"spec.validation.openAPIV3Schema.properties[a].type: {message}"]
    assert other == [f"spec.versions[0].schema.openAPIV3Schema.properties[a].type: {message}"]


def test_selectable_fields_are_texts_numbers_and_truths_outside_metadata() -> None:
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"a": TEXT, "l": {"type": "array", "items": TEXT}}},
            "metadata": {"type": "object", "properties": {"name": TEXT}},
        },
    }
    paths = [".spec.a", ".spec.a", ".spec.l", ".metadata.name", ".spec['a']"]
    schema_version = version(schema=schema, selectableFields=[{"jsonPath": path} for path in paths])
    wrong_type = (
        "must point to a field of type string, boolean or integer. Enum string fields and strings with "
        "formats are allowed."
    )
    at = "spec.selectableFields"
    assert errors_of(definition(None, schema_version)) == [
        f'{at}[1].jsonPath: Duplicate value: ".spec.a"',
        f'{at}[2].jsonPath: Invalid value: ".spec.l": {wrong_type}',
        f'{at}[3].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata',
        f"{at}[4].jsonPath: Invalid value: \".spec['a']\": is an invalid path: array notation is not allowed",
    ]


def test_groups_of_the_community_need_an_approval() -> None:
    protected = definition(group="acme.k8s.io")
    protected["metadata"]["name"] = "boxes.acme.k8s.io"
    assert errors_of(protected) == [
        "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have "
        'approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111'
    ]
    protected["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    assert errors_of(protected) == []


ESTABLISHED = {"conditions": [{"type": "Established", "status": "True"}], "storedVersions": ["v1"]}


def test_scope_and_kind_are_fixed_once_served() -> None:
    served = {**definition(), "status": ESTABLISHED}
    changed = definition(scope="Cluster", names={"plural": "boxes", "kind": "Crate"})
    assert errors_of(changed, served) == [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Crate": field is immutable',
    ]
    assert errors_of(changed, definition()) == []


def test_a_version_that_may_be_stored_must_stay() -> None:
    served = {**definition(), "status": ESTABLISHED}
    (error,) = errors_of(definition(None, version("v2")), served)
    assert error.startswith(
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was '
    )
    assert errors_of(definition(None, version("v2"), version("v1", storage=False)), served) == []


def test_a_bad_bundle_is_refused_once_the_kind_is_served() -> None:
    client = {"url": "https://hook", "caBundle": "aGVsbG8="}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    changed = definition(conversion={"strategy": "Webhook", "webhook": webhook})
    assert errors_of(changed) == []
    assert errors_of(changed, {**definition(), "status": ESTABLISHED}) == [
        'spec.conversion.webhookClientConfig.caBundle: Invalid value: "aGVsbG8=": unable to load root '
        "certificates: unable to parse bytes as PEM block"
    ]


def test_a_status_subresource_leaves_little_room_at_the_root() -> None:
    schema = {"type": "object", "maxProperties": 3, "properties": {"a": NUMBER}}
    (error,) = errors_of(definition(None, version(schema=schema, subresources={"status": {}})))
    assert error.startswith('spec.validation.openAPIV3Schema: Invalid value: {"ID":"","Schema":""')
    assert error.endswith("fields are allowed at the root of the schema if the status subresource is enabled")
