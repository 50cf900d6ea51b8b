"""Validation of the schema of a version. The messages are those of kube-apiserver v1.36."""

from __future__ import annotations

from crossply.values import Object
from tests.support.apiserver.definitions import TEXT, definition, errors_of, field_errors, version


def test_a_default_that_breaks_a_rule_is_refused() -> None:
    rules = [{"rule": "self == 'y'", "message": "must be y"}]
    assert field_errors({**TEXT, "default": "x", "x-kubernetes-validations": rules}) == [
        'f.default: Invalid value: "x": must be y'
    ]
    assert field_errors({**TEXT, "default": "y", "x-kubernetes-validations": rules}) == []


def test_a_restriction_at_the_root_covers_the_existing_members() -> None:
    schema = {"type": "object", "allOf": [{"properties": {"a": {"minLength": 1}}}]}
    at = "spec.validation.openAPIV3Schema"
    assert errors_of(definition(schema)) == [
        f"{at}.properties[a]: Required value: because it is defined in {at}.allOf[0].properties[a]"
    ]


def test_metadata_may_only_be_restricted_in_its_names() -> None:
    def of(metadata: Object) -> list[str]:
        return errors_of(definition({"type": "object", "properties": {"metadata": metadata}}))

    at = "spec.validation.openAPIV3Schema.properties[metadata]"
    assert of({"type": "object", "properties": {"name": {**TEXT, "maxLength": 9}}}) == []
    assert of({"type": "object", "properties": {"labels": {"type": "object"}}}) == [
        f"{at}: Forbidden: must not specify anything other than name and generateName, but metadata is "
        "implicitly specified"
    ]


def test_a_reference_beside_selectable_fields_is_refused_cleanly() -> None:
    schema = {"type": "object", "properties": {"a": {**TEXT, "$ref": "x"}}}
    errors = errors_of(definition(None, version(schema=schema, selectableFields=[{"jsonPath": ".a"}])))
    assert errors[0] == "spec.validation.openAPIV3Schema.properties[a].$ref: Forbidden: $ref is not supported"
    assert len(errors) == 2
