"""The table of built-in kinds: what is served, and that every kind is whole."""

from __future__ import annotations

import json

import pytest

from crossply.apiserver import builtin
from crossply.apiserver.builtin.kind_schema_table import definitions, names_by_kind, table
from crossply.apply.schema_compiler import builtin_type
from crossply.schema.unsupported_schema_keywords import structural_problem
from tests.support.apiserver.builtin_kinds import by_kind

NEEDED = [
    ("", "Namespace"),
    ("", "Secret"),
    ("", "ConfigMap"),
    ("", "ServiceAccount"),
    ("", "Event"),
    ("events.k8s.io", "Event"),
    ("coordination.k8s.io", "Lease"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("apps", "Deployment"),
    ("batch", "Job"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("policy", "PodDisruptionBudget"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("authorization.k8s.io", "SubjectAccessReview"),
]


@pytest.mark.parametrize(("group", "kind"), NEEDED)
def test_a_kind_that_a_control_plane_needs_is_served(group: str, kind: str) -> None:
    assert (group, kind) in by_kind()


def test_reviews_can_be_created_and_nothing_else() -> None:
    review = by_kind()["authorization.k8s.io", "SelfSubjectAccessReview"]
    assert review.versions["v1"].verbs == ("create",)


def test_subresources_that_need_nodes_are_not_served() -> None:
    assert by_kind()["", "Pod"].versions["v1"].subresources == {"status"}


def test_scale_is_a_subresource_of_kinds_with_replicas() -> None:
    for group, kind in [("apps", "Deployment"), ("apps", "StatefulSet"), ("", "ReplicationController")]:
        version = by_kind()[group, kind].versions["v1"]
        assert "scale" in version.subresources
        assert version.scale is not None


def test_autoscalers_are_stored_at_version_two_and_served_at_both() -> None:
    autoscaler = by_kind()["autoscaling", "HorizontalPodAutoscaler"]
    assert set(autoscaler.versions) == {"v1", "v2"}
    assert autoscaler.storage_version == "v2"


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(definitions())
    targets = {part.split('"')[0] for part in text.split('"$ref": "')[1:]}
    assert targets <= set(definitions())


def test_the_table_holds_structure_and_no_texts() -> None:
    assert '"description": "' not in json.dumps([definitions(), table().go])


def test_every_schema_is_structural_and_compiles_for_apply() -> None:
    for resource in by_kind().values():
        for version in resource.versions.values():
            assert version.schema is not None
            assert structural_problem(version.schema) is None
            definition = builtin.definition_of(resource, version.name)
            assert builtin_type(definition, definitions()).map is not None


def test_resources_of_the_same_definition_share_its_schema() -> None:
    schemas = [by_kind()["apps", kind].versions["v1"].schema for kind in ("Deployment", "ReplicaSet")]
    metadata = [(schema or {})["properties"]["metadata"] for schema in schemas]
    assert metadata[0] is metadata[1]


def test_every_kind_that_can_be_listed_has_columns() -> None:
    for resource in by_kind().values():
        for version in resource.versions.values():
            assert bool(version.columns) is ("list" in version.verbs), resource.key


def test_every_kind_finds_its_definition() -> None:
    for (group, kind), resource in by_kind().items():
        for version in resource.versions:
            assert (group, version, kind) in names_by_kind()
