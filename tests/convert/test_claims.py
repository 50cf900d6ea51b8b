"""A claim becomes a composite resource."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.convert.claim_to_composite import CompositeOptions, claim_to_composite
from crossply.convert.conversion_result import ConversionError


def claim(**metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "acme.test/v1",
        "kind": "Cache",
        "metadata": {"name": "mine", "namespace": "team", **metadata},
        "spec": {"size": 3},
        "status": {"ready": True},
    }


def converted(obj: dict[str, Any], **options: Any) -> dict[str, Any]:
    return claim_to_composite(obj, CompositeOptions(**options), lambda: "abcde")


def test_a_composite_resource_is_bound_to_its_claim() -> None:
    assert converted(claim()) == {
        "apiVersion": "acme.test/v1",
        "kind": "XCache",
        "metadata": {
            "name": "mine-abcde",
            "labels": {"crossplane.io/claim-name": "mine", "crossplane.io/claim-namespace": "team"},
        },
        "spec": {
            "size": 3,
            "claimRef": {"apiVersion": "acme.test/v1", "kind": "Cache", "name": "mine", "namespace": "team"},
        },
    }


def test_a_direct_one_stands_on_its_own() -> None:
    composite = converted(claim(annotations={"a": "b"}), direct=True, kind="Store", uid="u")
    assert composite["kind"] == "Store"
    assert composite["metadata"] == {"name": "mine", "annotations": {"a": "b"}, "uid": "u"}
    assert composite["spec"] == {"size": 3}


def test_the_label_of_the_composite_is_dropped() -> None:
    labels = {"crossplane.io/composite": "x", "tier": "gold"}
    assert converted(claim(labels=labels), direct=True)["metadata"]["labels"] == {"tier": "gold"}


def test_a_requested_name_is_used() -> None:
    assert converted(claim(), name="fixed")["metadata"]["name"] == "fixed"


def test_a_generated_name_is_short_enough_for_a_label() -> None:
    name = converted(claim(name="n" * 80))["metadata"]["name"]
    assert name == "n" * 58 + "abcde"


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        ("kind", "no kind section in Claim"),
        ("apiVersion", "no apiVersion in Claim"),
        ("spec", "no spec section in Claim"),
    ],
)
def test_a_claim_that_lacks_something_is_refused(field: str, sentence: str) -> None:
    with pytest.raises(ConversionError, match=sentence):
        converted({key: value for key, value in claim().items() if key != field})
