"""Definitions, claims and composite resources of version 1 become those of version 2."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.convert.crossplane_v2 import definition_to_v2
from crossply.convert.current_composition import FunctionNames
from crossply.convert.manifest_converter import Converter

CLAIM_NAMES = {"kind": "Cache", "plural": "caches"}


def definition(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xcaches.acme.test"},
        "spec": {"group": "acme.test", "names": {"kind": "XCache", "plural": "xcaches"}, **spec},
        "status": {"conditions": []},
    }


def resource(kind: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "acme.test/v1", "kind": kind, "metadata": {"name": "x", **metadata}, "spec": spec}


def converter(scope: str = "") -> Converter:
    return Converter([definition(claimNames=CLAIM_NAMES)], FunctionNames(), scope)


@pytest.mark.parametrize(
    ("spec", "requested", "scope"),
    [
        ({"claimNames": CLAIM_NAMES}, "", "Namespaced"),
        ({}, "", "Cluster"),
        ({"scope": "LegacyCluster"}, "", "Cluster"),
        ({"scope": "Namespaced"}, "", "Namespaced"),
        ({}, "Namespaced", "Namespaced"),
    ],
)
def test_a_definition_gets_a_scope_that_suits_it(spec: dict[str, Any], requested: str, scope: str) -> None:
    converted = definition_to_v2(definition(**spec), requested).value
    assert converted["apiVersion"] == "apiextensions.crossplane.io/v2"
    assert converted["spec"]["scope"] == scope
    assert "status" not in converted


def test_fields_without_a_place_in_version_2_are_reported() -> None:
    original = definition(
        claimNames=CLAIM_NAMES, connectionSecretKeys=["k"], defaultCompositeDeletePolicy="Background"
    )
    converted = definition_to_v2(original, "")
    assert set(converted.value["spec"]) == {"group", "names", "scope"}
    assert converted.left_out == ("spec.claimNames", "spec.connectionSecretKeys")


def test_a_claim_becomes_a_composite_resource_in_its_namespace() -> None:
    claim = resource(
        "Cache",
        {
            "size": 3,
            "compositionRef": {"name": "c"},
            "resourceRef": {"name": "x-abcde"},
            "compositeDeletePolicy": "Foreground",
            "writeConnectionSecretToRef": {"name": "s"},
        },
        namespace="team",
        labels={"crossplane.io/composite": "x-abcde", "tier": "gold"},
    )
    converted = converter().convert(claim)
    assert converted is not None
    assert converted.value == resource(
        "XCache",
        {"size": 3, "crossplane": {"compositionRef": {"name": "c"}}},
        namespace="team",
        labels={"tier": "gold"},
    )
    assert converted.left_out == ("spec.writeConnectionSecretToRef",)


def test_a_claim_of_a_cluster_scoped_kind_loses_its_namespace() -> None:
    converted = converter("Cluster").convert(resource("Cache", {}, namespace="team"))
    assert converted is not None
    assert converted.value["metadata"] == {"name": "x"}


def test_a_composite_resource_keeps_the_fields_of_the_engine_in_their_new_place() -> None:
    converted = converter().convert(resource("XCache", {"claimRef": {}, "compositionUpdatePolicy": "Manual"}))
    assert converted is not None
    assert converted.value["spec"] == {"crossplane": {"compositionUpdatePolicy": "Manual"}}


@pytest.mark.parametrize(
    "original",
    [
        resource("XCache", {"size": 3}, namespace="team"),
        resource("Other", {"compositionRef": {}}),
        {"apiVersion": "v1", "kind": "ConfigMap"},
        {**definition(), "apiVersion": "apiextensions.crossplane.io/v2"},
        {},
    ],
)
def test_current_manifests_stay_as_they_are(original: dict[str, Any]) -> None:
    assert converter().convert(original) is None
