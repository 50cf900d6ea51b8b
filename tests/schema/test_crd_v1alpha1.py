"""The first design's definitions and publications become CRDs too."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.kinds.application_and_infrastructure_definitions import PublicationError
from crossply.kinds.definition import parse_definition
from crossply.schema.crd_version_assembly import CrdError
from crossply.schema.definition_crds import composite_crd
from crossply.schema.infrastructure_definition_crds import requirement_crd


def definition(kind: str, schema: Any = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": kind,
        "metadata": {"name": "queues.acme.test", "uid": "u"},
        "spec": {
            "crdSpecTemplate": {
                "group": "acme.test",
                "version": "v1alpha1",
                "names": {"kind": "Queue", "listKind": "QueueList", "plural": "queues", "singular": "queue"},
                "validation": {
                    "openAPIV3Schema": schema or {"type": "object", "properties": {"depth": {"type": "int"}}}
                },
            },
            **spec,
        },
    }


PUBLICATION = {
    "apiVersion": "apiextensions.crossplane.io/v1alpha1",
    "kind": "InfrastructurePublication",
    "metadata": {"name": "queues.acme.test"},
    "spec": {"infrastructureDefinitionReference": {"name": "queues.acme.test"}},
}


def spec_fields(crd: dict[str, Any]) -> Any:
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


@pytest.mark.parametrize(
    ("kind", "scope", "machinery", "fields"),
    [
        ("ApplicationDefinition", "Namespaced", "application", {"compositionRef", "composedRefs"}),
        (
            "InfrastructureDefinition",
            "Cluster",
            "infrastructure",
            {"composedRefs", "requirementRef", "writeConnectionSecretToRef", "reclaimPolicy"},
        ),
    ],
)
def test_a_definition_has_its_machinery_beside_the_users_fields(
    kind: str, scope: str, machinery: str, fields: set[str]
) -> None:
    crd = composite_crd(definition(kind))
    assert crd["metadata"]["name"] == "queues.acme.test"
    assert crd["spec"]["scope"] == scope
    assert spec_fields(crd)["depth"] == {"type": "integer"}
    assert fields <= spec_fields(crd)[machinery]["properties"].keys()


def test_a_schema_of_the_whole_resource_is_understood_as_well() -> None:
    full_schema = {"properties": {"spec": {"properties": {"depth": {"type": "integer"}}}}}
    assert "depth" in spec_fields(composite_crd(definition("InfrastructureDefinition", full_schema)))


def test_a_publication_makes_a_namespaced_requirement() -> None:
    crd = requirement_crd(PUBLICATION, definition("InfrastructureDefinition"))
    assert crd["metadata"]["name"] == "queuerequirements.acme.test"
    assert crd["metadata"]["ownerReferences"][0]["kind"] == "InfrastructurePublication"
    assert crd["spec"]["scope"] == "Namespaced"
    assert crd["spec"]["names"]["kind"] == "QueueRequirement"
    assert "depth" in spec_fields(crd)
    assert "resourceRef" in spec_fields(crd)["infrastructure"]["properties"]


def test_only_the_infrastructure_it_names_is_published() -> None:
    with pytest.raises(PublicationError):
        requirement_crd(PUBLICATION, definition("ApplicationDefinition"))


def test_the_model_knows_where_to_look() -> None:
    parsed = parse_definition(
        definition(
            "InfrastructureDefinition",
            connectionDetails=["user"],
            defaultComposition={"name": "cheap"},
            forceComposition={"name": "only"},
        )
    )
    assert (parsed.machinery, parsed.scope) == ("infrastructure", "Cluster")
    assert parsed.composite == ("acme.test/v1alpha1", "Queue")
    assert (parsed.default_composition, parsed.enforced_composition) == ("cheap", "only")
    assert parsed.connection_secret_keys == ("user",)


def test_a_bottomless_template_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(50_000):
        schema = {"items": schema}
    with pytest.raises(CrdError):
        composite_crd(definition("ApplicationDefinition", schema))
