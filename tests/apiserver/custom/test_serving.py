"""A definition as a resource."""

from __future__ import annotations

from crossply.apiserver.apiextensions.crd_defaults import default_definition
from crossply.apiserver.apiextensions.crd_resource import resource_from, version_rank
from tests.support.apiserver.definitions import definition, version


def test_versions_carry_all_that_the_server_needs() -> None:
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    column = {"name": "N", "type": "integer", "jsonPath": ".spec.n", "priority": 1}
    schema_version = version(
        subresources={"status": {}, "scale": scale},
        additionalPrinterColumns=[column],
        selectableFields=[{"jsonPath": ".spec.n"}],
    )
    resource = resource_from(default_definition(definition(None, schema_version)))
    served = resource.versions["v1"]
    assert served.subresources == {"status", "scale"}
    assert served.scale is not None
    assert served.scale.spec_replicas == ".spec.n"
    assert served.selectable_fields == ("spec.n",)
    assert [(item.name, item.priority) for item in served.columns] == [("N", 1)]
    assert (resource.key, resource.namespaced, resource.custom) == ("boxes.acme.example.org", True, True)


def test_without_columns_there_is_the_age() -> None:
    resource = resource_from(default_definition(definition()))
    assert [(item.name, item.type) for item in resource.versions["v1"].columns] == [("Age", "date")]


def test_a_version_that_is_not_served_is_still_known_for_conversion() -> None:
    hidden = version("v1beta1", served=False)
    resource = resource_from(default_definition(definition(None, hidden, version("v1", storage=False))))
    assert resource.storage_version == "v1beta1"
    assert [name for name, item in resource.versions.items() if item.served] == ["v1"]


def test_a_deprecated_version_names_its_replacement() -> None:
    old = version("v1beta1", storage=False, deprecated=True)
    worded = version("v1alpha1", storage=False, deprecated=True, deprecationWarning="gone soon")
    resource = resource_from(default_definition(definition(None, old, worded, version("v1"))))
    message = {name: item.deprecation_warning for name, item in resource.versions.items()}
    assert message == {
        "v1beta1": "acme.example.org/v1beta1 Box is deprecated; use acme.example.org/v1 Box",
        "v1alpha1": "gone soon",
        "v1": "",
    }


def test_versions_are_ranked_as_kubernetes_does() -> None:
    names = ["v1beta1", "foo", "v10", "v1", "v2alpha1", "v1beta2", "bar", "v2"]
    ranked = sorted(names, key=version_rank, reverse=True)
    assert ranked == ["v10", "v2", "v1", "v1beta2", "v1beta1", "v2alpha1", "bar", "foo"]
